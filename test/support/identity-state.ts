import { SYSTEM_CALL } from 'portcullis'
import type { TestController } from 'portcullis/testing'
// Internals: states of identities and passwords that policies refuse.
import { engineOf } from '../../src/controller/guarded-engine.ts'
import { newAuthenticator } from '../../src/credentials/new-authenticator.ts'
import { contextOf } from '../../src/engine/entity-services.ts'
import { authenticators, authPolicies, identities } from './stored-records.ts'

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
  { clock, engine }: TestController,
  identityId: string,
  { username, password }: { readonly username: string; readonly password: string },
): Promise<void> {
  const context = contextOf(engineOf(engine))
  const passwordHash = await context.passwordHasher.hash(password)
  const authenticator = newAuthenticator(context, identityId, { username, passwordHash }, clock.now())
  await context.writes.run(SYSTEM_CALL, (tx) => tx.collection(authenticators).insert(authenticator))
}
