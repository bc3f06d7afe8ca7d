import 'reflect-metadata'
import { describe, it } from 'vitest'
import { adminOf } from '../contract/http/foreign-client.ts'
import { mount } from '../support/mount.ts'
import { now } from '../support/third-party.ts'
import { CREDENTIALS } from './states/credentials.ts'
import { MFA } from './states/mfa.ts'
import { POSTURE } from './states/posture.ts'
import { SESSIONS } from './states/sessions.ts'

/** The table *States and transitions* of the interface document. */
const TABLE = [...CREDENTIALS, ...MFA, ...SESSIONS, ...POSTURE]

describe('states and transitions', () => {
  it.each(TABLE)('%s, %s: %s -> %s', async (_subject, _state, _trigger, _next, run) => {
    const mounted = await mount({ now })
    await run({ mounted, admin: await adminOf(mounted) })
  })
})
