import { createTestController, type TestControllerOptions } from 'portcullis/testing'
import { adminOf, create } from '../contract/http/foreign-client.ts'
import type { MountedController } from '../contract/http/mount.ts'
import { disable, useAuthPolicy } from '../support/identity-state.ts'
import { mountOf } from '../support/mount.ts'
import { authPolicy, login, person } from '../support/people.ts'
import { withSharedPki } from '../support/shared-pki.ts'

export const WRONG = 'Wrong-Horse-1'

/** Who cannot log in, and how it comes that they cannot. */
export const REFUSED = ['unknown', 'known', 'disabled', 'forbidden', 'without-password', 'locked'] as const

/** A controller in which nobody of {@link REFUSED} can log in. Its owner closes it. */
export async function refusedPeople(options: TestControllerOptions): Promise<MountedController> {
  const mounted = mountOf(await createTestController(await withSharedPki(options)))
  const admin = await adminOf(mounted)
  await person(mounted, admin, 'known')
  await disable(mounted.controller, (await person(mounted, admin, 'disabled')).id)
  const forbidden = await person(mounted, admin, 'forbidden')
  await useAuthPolicy(mounted.controller, forbidden.id, { primary: { updb: { allowed: false } } })
  await create(admin, '/identities', { name: 'without-password', type: 'User', isAdmin: false })
  const authPolicyId = await create(admin, '/auth-policies', authPolicy('locking', { maxAttempts: 1 }))
  const locked = await person(mounted, admin, 'locked', { authPolicyId })
  await login(mounted, { ...locked, password: WRONG })
  return mounted
}
