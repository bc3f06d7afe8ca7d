import type { AnonymousCall } from 'portcullis'
import { SYSTEM_CALL } from 'portcullis'
import { createTestController, TEST_ADMIN } from 'portcullis/testing'
import { expect, it, onTestFinished } from 'vitest'
import { withSharedPki } from '../support/shared-pki.ts'

const ANYBODY: AnonymousCall = { by: 'anonymous', remoteAddress: '192.0.2.1' }
const EVERYBODY = { semantic: 'AnyOf', identityRoles: ['#all'], serviceRoles: ['#all'] } as const

it('a call that says nobody writes nothing, and redeems a credential', async () => {
  const controller = await createTestController(await withSharedPki())
  onTestFinished(() => controller.close())
  const { engine, storage } = controller
  const service = await engine.services.create(SYSTEM_CALL, { name: 'vault' })
  const boss = await engine.identities.create(SYSTEM_CALL, { name: 'boss', type: 'User', isAdmin: true })
  const revisionOf = () => storage.read(async (tx) => tx.revision)
  const before = await revisionOf()
  const attempts: Readonly<Record<string, () => Promise<unknown>>> = {
    'gives an administrator a password': () =>
      engine.authenticators.create(ANYBODY, {
        identityId: boss.id,
        method: 'updb',
        username: 'mallory',
        password: 'correct horse',
      }),
    'makes an administrator': () => engine.identities.create(ANYBODY, { name: 'mallory', type: 'User', isAdmin: true }),
    'lets everybody dial everything': () =>
      engine.servicePolicies.create(ANYBODY, { name: 'open', type: 'Dial', ...EVERYBODY }),
    'deletes a service': () => engine.services.delete(ANYBODY, service.id),
    'renames a service': () => engine.services.patch(ANYBODY, service.id, { name: 'mine' }),
    'changes the default auth policy': () => engine.authPolicies.patch(ANYBODY, 'default', { name: 'weak' }),
    'revokes tokens of an identity': () => engine.revocations.create(ANYBODY, { id: boss.id, type: 'IDENTITY' }),
    'disables an identity': () => engine.identities.disable(ANYBODY, boss.id, { durationMinutes: 0 }),
    'takes a second factor away': () => engine.identities.removeMfa(ANYBODY, boss.id),
  }
  for (const [what, attempt] of Object.entries(attempts)) {
    await expect(attempt(), what).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  }
  expect(await revisionOf()).toBe(before)
  const { username, password } = TEST_ADMIN
  const caller = await engine.authentication.byPassword(ANYBODY, username, password)
  expect(caller.isFullyAuthenticated).toBe(true)
})
