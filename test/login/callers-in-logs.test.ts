import { inspect } from 'node:util'
import { SYSTEM_CALL } from 'portcullis'
import { createTestController, TEST_ADMIN } from 'portcullis/testing'
import { expect, it } from 'vitest'
import { withSharedPki } from '../support/shared-pki.ts'

const { username, password } = TEST_ADMIN

it('prints a caller that a host was given by its identity and session, without token and digests', async () => {
  await using net = await createTestController(await withSharedPki())
  const { engine } = net
  const { id } = await engine.identities.create(SYSTEM_CALL, { name: 'eve', type: 'User', isAdmin: false })
  const started = await engine.host.startSession(id)
  const callers = [
    started,
    await engine.host.resolve(started.token),
    await engine.authentication.byPassword({ by: 'anonymous' }, username, password),
  ]
  for (const caller of callers) {
    const { token = '', apiSession } = caller ?? {}
    const texts = [inspect(caller, { depth: null }), JSON.stringify(caller), JSON.stringify({ login: caller })]
    for (const text of texts) {
      expect(text).toContain(caller?.identity.name)
      expect(text).toContain(apiSession?.id)
      for (const secret of [token, apiSession?.tokenDigest, apiSession?.sealedToken]) expect(text).not.toContain(secret)
    }
    expect(token).not.toBe('')
  }
  // The caller itself works as before, also as a part of another object.
  expect(
    await net
      .as({ ...started })
      .identities.list()
      .catch(({ code }) => code),
  ).toBe('UNAUTHORIZED')
})
