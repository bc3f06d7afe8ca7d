import { expect } from 'vitest'
import { expectDone, expectError } from '../../contract/http/errors.ts'
import { adminOf, create, read } from '../../contract/http/foreign-client.ts'
import { network } from '../../contract/http/scenario.ts'
import { apisOf, login } from '../../support/people.ts'
import { aliceOf, elapse, HOUR_MS, MINUTE_MS, type Row } from './stage.ts'

/** API sessions, and identities that may have none. */
export const SESSIONS: readonly Row[] = [
  ...(['logout', 'timeout', 'admin delete'] as const).map(
    (trigger): Row => [
      'API session',
      'active',
      trigger,
      'ended, with its sessions',
      async (stage) => {
        const { alice, serviceId } = await network(stage.mounted)
        const { id } = await read(alice.api, '/current-api-session')
        const sessionId = await create(alice.api, '/sessions', { serviceId, type: 'Dial' })
        if (trigger === 'logout') expectDone(await alice.api.delete('/current-api-session'))
        else if (trigger === 'admin delete') expectDone(await stage.admin.delete(`/api-sessions/${id}`))
        else await elapse(stage.mounted, 31 * MINUTE_MS)
        expectError(await alice.api.get('/current-api-session'), 'UNAUTHORIZED')
        const admin = await adminOf(stage.mounted)
        expectError(await admin.get(`/api-sessions/${id}`), 'NOT_FOUND')
        expectError(await admin.get(`/sessions/${sessionId}`), 'NOT_FOUND')
      },
    ],
  ),
  [
    'Identity',
    'enabled',
    'disable for minutes',
    'disabled for so long',
    async (stage) => {
      const alice = await aliceOf(stage)
      const { api } = await apisOf(stage.mounted, alice)
      expectDone(await stage.admin.post(`/identities/${alice.id}/disable`, { durationMinutes: 10 }))
      expectError(await api.get('/current-identity'), 'UNAUTHORIZED')
      await elapse(stage.mounted, 10 * MINUTE_MS - 1)
      expect((await login(stage.mounted, alice)).status).toBe(401)
      await elapse(stage.mounted, 1)
      expect((await login(stage.mounted, alice)).status).toBe(200)
    },
  ],
  [
    'Identity',
    'enabled',
    'disable for 0 minutes',
    'disabled until enabled',
    async (stage) => {
      const alice = await aliceOf(stage)
      expectDone(await stage.admin.post(`/identities/${alice.id}/disable`, { durationMinutes: 0 }))
      await elapse(stage.mounted, 400 * 24 * HOUR_MS)
      expect((await login(stage.mounted, alice)).status).toBe(401)
    },
  ],
  [
    'Identity',
    'disabled',
    'clear disabled state',
    'enabled',
    async (stage) => {
      const alice = await aliceOf(stage)
      expectDone(await stage.admin.post(`/identities/${alice.id}/disable`, { durationMinutes: 0 }))
      expectDone(await stage.admin.send('POST', `/identities/${alice.id}/enable`))
      expect((await read(stage.admin, `/identities/${alice.id}`)).disabled).toBe(false)
      expect((await login(stage.mounted, alice)).status).toBe(200)
    },
  ],
]
