import { ControllerError, SYSTEM_CALL } from 'portcullis'
import type { TestController } from 'portcullis/testing'
import { authPolicies, identities } from './stored-records.ts'

/** Differences from the default auth policy. */
export interface AuthPolicyChange {
  readonly primary?: {
    readonly cert?: { readonly allowed?: boolean; readonly allowExpiredCerts?: boolean }
    readonly updb?: { readonly allowed?: boolean }
  }
  readonly requireTotp?: boolean
}

/** Disables an identity as of now, which no operation does yet. */
export async function disable(controller: TestController, identityId: string): Promise<void> {
  const { storage, clock } = controller
  await storage.write(async (tx) => {
    const identity = await tx.collection(identities).get(identityId)
    if (identity === undefined) throw new Error(`no identity ${identityId}`)
    await tx.collection(identities).update({ ...identity, disabledAt: clock.now() })
  })
}

/** Gives an identity an auth policy of its own, which no operation does yet. */
export async function useAuthPolicy(
  controller: TestController,
  identityId: string,
  change: AuthPolicyChange,
): Promise<void> {
  const id = `policy-of-${identityId}`
  const { storage } = controller
  await storage.write(async (tx) => {
    const standard = await tx.collection(authPolicies).get('default')
    const identity = await tx.collection(identities).get(identityId)
    if (standard === undefined || identity === undefined) throw new Error(`no identity ${identityId}`)
    const { cert, extJwt, updb } = standard.primary
    const primary = { cert: { ...cert, ...change.primary?.cert }, extJwt, updb: { ...updb, ...change.primary?.updb } }
    const secondary = { ...standard.secondary, requireTotp: change.requireTotp ?? false }
    await tx.collection(authPolicies).insert({ ...standard, id, name: id, isSystem: false, primary, secondary })
    await tx.collection(identities).update({ ...identity, authPolicyId: id })
  })
}

/** Gives an identity a username and a password, also one that its auth policy would not accept. */
export async function givePassword(
  { engine }: TestController,
  identityId: string,
  credentials: { readonly username: string; readonly password: string },
): Promise<void> {
  const request = { method: 'updb' as const, identityId, ...credentials }
  const created = await engine.authenticators.create(SYSTEM_CALL, request).catch((error: unknown) => {
    if (error instanceof ControllerError && error.code === 'COULD_NOT_VALIDATE') return undefined
    throw error
  })
  if (created !== undefined) return
  // Under the default policy the password is good enough, and nobody looks at it again afterwards.
  const { authPolicyId } = await engine.identities.get(SYSTEM_CALL, identityId)
  await engine.identities.patch(SYSTEM_CALL, identityId, { authPolicyId: 'default' })
  await engine.authenticators.create(SYSTEM_CALL, request)
  await engine.identities.patch(SYSTEM_CALL, identityId, { authPolicyId })
}
