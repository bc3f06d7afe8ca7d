import { keepBuiltInConfigTypes } from '../configs/configs.ts'
import { SYSTEM_CALL } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { DEFAULT_AUTH_POLICY } from '../credentials/auth-policies.ts'
import { postureCheckTypes } from '../facts/access/posture/posture-check.resource.ts'
import { POSTURE_CHECK_TYPES } from '../facts/access/posture/rules/index.ts'
import { identityTypes } from '../facts/authority/permissions.resource.ts'
import { authPolicies } from '../facts/credentials/auth-policy.resource.ts'
import { authenticators } from '../facts/credentials/authenticator.resource.ts'
import { adminPasswordWeakness } from '../facts/credentials/password.rules.ts'
import { defaultAdminIn, insertDefaultAdmin } from '../identities/default-admin.ts'
import { findOne, isStored, newRecord } from '../records/read-records.ts'

/** The default admin's credentials, for a store that has no admin yet. */
export interface AdminCredentials {
  /** 4 to 100 characters. */
  readonly username: string
  /** 5 to 100 characters. */
  readonly password: string
}

const IDENTITY_TYPES = ['User', 'Device', 'Service', 'Router', 'Default']
const DEPLOYED_IDENTITY_TYPES = ['Router', 'Default']

/** The default admin as a start found or made it. */
export interface DefaultAdminState {
  /** Whether there is an admin now. */
  readonly hasAdmin: boolean
  /** Whether an earlier admin has other credentials than the given ones. */
  readonly hasOtherCredentials: boolean
}

/**
 * Fills an empty store with the entities of every controller: identity types, config types, the default auth policy and, when credentials
 * are given, the default admin. Existing entities are not touched, except for built-in config types with the schema of an earlier
 * version, so an admin's password survives a restart with other credentials. Throws on credentials that no login would accept.
 */
export async function bootstrap(
  context: EngineContext,
  admin: AdminCredentials | undefined,
): Promise<DefaultAdminState> {
  if (admin !== undefined) {
    requireLength('admin.username', admin.username, 4)
    requireLength('admin.password', admin.password, 5)
  }
  const known = await context.storage.read(defaultAdminIn)
  const hasAdmin = await fillStore(context, known === undefined ? admin : undefined)
  const hasOtherCredentials =
    known !== undefined && admin !== undefined && !(await logsInWith(context, known.id, admin))
  if (admin !== undefined && !hasOtherCredentials) warnOfWeakness(context, admin)
  return { hasAdmin, hasOtherCredentials }
}

function warnOfWeakness({ logger }: EngineContext, { username, password }: AdminCredentials): void {
  const reason = adminPasswordWeakness(password, username)
  if (reason !== undefined) logger.warn('the password of the default admin is weak', { reason })
}

/** The value itself stays out of the message: it may be a secret. */
function requireLength(name: string, value: string | undefined, least: number): void {
  const length = value?.length ?? 0
  if (length < least || length > 100) throw new Error(`${name} must have ${least} to 100 characters, it has ${length}`)
}

async function fillStore(context: EngineContext, admin: AdminCredentials | undefined): Promise<boolean> {
  const passwordHash = admin && (await context.passwordHasher.hash(admin.password))
  const now = context.clock.now()
  return context.writes.run(SYSTEM_CALL, async (tx) => {
    const { knowsDefaultTypeAlone } = context.settings.profile
    for (const name of knowsDefaultTypeAlone ? DEPLOYED_IDENTITY_TYPES : IDENTITY_TYPES) {
      if (!(await isStored(() => tx.collection(identityTypes).get(name)))) {
        await tx.collection(identityTypes).insert(newRecord(name, now, { name }))
      }
    }
    if (!(await isStored(() => tx.collection(authPolicies).get('default')))) {
      await tx.collection(authPolicies).insert(newRecord('default', now, DEFAULT_AUTH_POLICY))
    }
    for (const type of POSTURE_CHECK_TYPES) {
      if (!(await isStored(() => tx.collection(postureCheckTypes).get(type.id)))) {
        await tx.collection(postureCheckTypes).insert(newRecord(type.id, now, type))
      }
    }
    await keepBuiltInConfigTypes(context, tx, now)
    if ((await defaultAdminIn(tx)) !== undefined) return true
    if (passwordHash === undefined || admin === undefined) return false
    await insertDefaultAdmin(context, tx, admin.username, passwordHash, now)
    return true
  })
}

/** Whether an identity has an authenticator with these credentials; its auth policy is not asked. */
async function logsInWith(context: EngineContext, identityId: string, admin: AdminCredentials): Promise<boolean> {
  const own = await context.storage.read((tx) => findOne(tx, authenticators, 'username', admin.username))
  if (own?.identityId !== identityId || own.passwordHash === null) return false
  return context.passwordHasher.verify(admin.password, own.passwordHash)
}
