import { createTestController } from 'portcullis/testing'
import { expect, it } from 'vitest'
import { adminToken, ownApi } from '../support/delegate.ts'
import { withSharedPki } from '../support/shared-pki.ts'

/** More invitations than a finding reads. */
const ENDED = 1100

it('an invitation that is about to end is found among very many that have ended', { timeout: 120_000 }, async () => {
  const names = [...Array.from({ length: ENDED }, (_one, at) => `late-${at}`), 'soon']
  const model = { identities: names.map((name) => ({ name, type: 'User', isAdmin: false }) as const) }
  const net = await createTestController(await withSharedPki({ model }))
  const admin = await net.asAdmin()
  const invited = async (name: string, lastsMs: number) => {
    const [identity] = (await admin.call('GET /identities', { query: { filter: `name="${name}"` } })).data
    const expiresAt = new Date(net.clock.now() + lastsMs).toISOString()
    await admin.call('POST /enrollments', { body: { identityId: identity?.id ?? '', method: 'ott', expiresAt } })
  }
  for (const name of names.slice(0, ENDED)) await invited(name, 60_000)
  await invited('soon', 200_000)
  await net.elapse(150_000)
  const { data } = await ownApi(net, await adminToken(net)).call('GET /findings', {
    query: { finding: 'invitations-ending' },
  })
  expect(data[0]?.entities.map(({ name }) => name)).toEqual(['soon'])
})
