import { administrators } from '../authority/trust.ts'
import { ControllerError, invalidField } from '../base/errors.ts'
import type { SystemCall } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { PLAIN_PASSWORDS } from '../credentials/auth-policies.ts'
import { endApiSessions, endLoginsUnderWay } from '../credentials/login-basis.ts'
import { newAuthenticator } from '../credentials/new-authenticator.ts'
import { isAdministrator } from '../facts/authority/authority.rules.ts'
import { authPolicies } from '../facts/credentials/auth-policy.resource.ts'
import { authenticators } from '../facts/credentials/authenticator.resource.ts'
import { NO_FAILED_ATTEMPTS } from '../facts/credentials/lockout.rules.ts'
import { adminPasswordWeakness, type PasswordRules, passwordWeakness } from '../facts/credentials/password.rules.ts'
import { externalJwtSigners } from '../facts/credentials/signers/external-jwt-signer.resource.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { apiSessions } from '../facts/login/api-session.resource.ts'
import { AdministratorReset } from '../facts/login/login-requests.resource.ts'
import { mfas } from '../facts/login/mfa.resource.ts'
import { defaultAdminIn, insertDefaultAdmin } from '../identities/default-admin.ts'
import { readRequest } from '../kernel/declaration/read-body.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { both, equals } from '../kernel/filter/index.ts'
import type { ReadTransaction, WriteTransaction } from '../ports/record-storage.ts'
import { deleteEntity, endReasonsOf } from '../records/deletion.ts'
import { findOne, ifReadable } from '../records/read-records.ts'
import { refusingDuplicates } from '../records/references.ts'
import { MORE, type WriteBatch, writeInBatches } from '../records/write-batches.ts'

type Identity = RecordOf<typeof identities>
type Authenticator = RecordOf<typeof authenticators>

/** The administrator whose password is set, and the new password. */
export interface PasswordReset {
  /** Of an administrator; by default that of the default admin. */
  readonly username?: string | undefined
  /** 5 to 100 characters, as the auth policy asks for. */
  readonly password: string
  /** Also removes second factors: the MFA of the administrator, and the factors that its auth policy requires besides the password. */
  readonly passwordOnly?: boolean | undefined
}

/** The obstacles that a reset found, and those it removed. */
export interface PasswordResetReport {
  readonly identityId: string
  readonly username: string
  /** True when the store had no default admin and one was made. */
  readonly isNew: boolean
  /** It was disabled, and is enabled now. */
  readonly wasDisabled: boolean
  /** Its auth policy refused passwords; it has another one now. */
  readonly hasOtherPolicy: boolean
  readonly hasLostMfa: boolean
  /** Why the password is easily guessed, for a warning; null for no known weakness. */
  readonly weakness: string | null
}

/** The administrator that is to log in, as the store has it; without identity it is made. */
interface Target {
  readonly identity: Identity | undefined
  readonly password: Authenticator | undefined
  readonly username: string
}

/** The username of a default admin that has lost its own. */
const USUAL_USERNAME = 'admin'

/** Restores the last way in, for the operator with access to the store. */
export class AdministratorRecovery {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    this.#context = context
  }

  /**
   * Sets the password of an administrator so that it can log in: a lockout is cleared, a disabled identity enabled, an
   * auth policy that refuses passwords replaced, and a missing username made. A store without a default admin gets one.
   * All API sessions of the administrator end.
   *
   * @throws {ControllerError} NOT_FOUND (`username`) when no administrator has it.
   * @throws {ControllerError} COULD_NOT_VALIDATE when the auth policy refuses the password, or the username is invalid.
   *
   * @example
   * await engine.host.resetAdminPassword({ password: 'correct horse battery' })
   */
  async resetPassword(call: SystemCall, wanted: PasswordReset): Promise<PasswordResetReport> {
    const reset = readRequest(AdministratorReset, wanted)
    const { storage, passwordHasher } = this.#context
    const rules = await storage.read(async (tx) => {
      const { identity } = await targetOf(tx, reset.username)
      return rulesOf(tx, await admittingPolicy(tx, identity?.authPolicyId ?? 'default', reset.passwordOnly))
    })
    const weakness = passwordWeakness(reset.password, rules)
    if (weakness !== undefined) throw invalidField('password', `password ${weakness}`, '')
    const passwordHash = await passwordHasher.hash(reset.password)
    const work = (tx: WriteTransaction, batch: WriteBatch) => this.#reset(tx, batch, reset, passwordHash)
    return refusingDuplicates(authenticators, () =>
      writeInBatches(this.#context, call, work, endReasonsOf(apiSessions)),
    )
  }

  async #reset(
    tx: WriteTransaction,
    batch: WriteBatch,
    { username, password, passwordOnly }: PasswordReset,
    passwordHash: string,
  ): Promise<PasswordResetReport | typeof MORE> {
    const now = this.#context.clock.now()
    const target = await targetOf(tx, username)
    const { identity } = target
    if (identity === undefined) {
      const made = await insertDefaultAdmin(this.#context, tx, target.username, passwordHash, now)
      return report(made.id, target, password, { isNew: true })
    }
    await endLoginsUnderWay(tx, identity.id)
    if ((await endApiSessions(tx, 'identityId', identity.id, batch)) === MORE) return MORE
    await this.#setPassword(tx, identity.id, target, passwordHash, now)
    const choice = await admittingPolicy(tx, identity.authPolicyId, passwordOnly)
    const authPolicyId = await this.#policyId(tx, choice, now)
    const enabled = { disabledAt: null, disabledUntil: null, directoryDisabledAt: null, authPolicyId, updatedAt: now }
    await tx.collection(identities).update({ ...identity, ...enabled })
    const mfa = passwordOnly ? await findOne(tx, mfas, 'identityId', identity.id) : undefined
    if (mfa !== undefined) await deleteEntity(tx, mfas, mfa.id)
    return report(identity.id, target, password, {
      wasDisabled: identity.disabledAt !== null || identity.directoryDisabledAt !== null,
      hasOtherPolicy: authPolicyId !== identity.authPolicyId,
      hasLostMfa: mfa !== undefined,
    })
  }

  async #setPassword(
    tx: WriteTransaction,
    identityId: string,
    { password, username }: Target,
    passwordHash: string,
    now: number,
  ): Promise<void> {
    const collection = tx.collection(authenticators)
    if (password === undefined) {
      await collection.insert(newAuthenticator(this.#context, identityId, { username, passwordHash }, now))
    } else await collection.update({ ...password, username, passwordHash, ...NO_FAILED_ATTEMPTS, updatedAt: now })
  }

  /** The id of the chosen policy, which is written where it is new or has to be repaired. */
  async #policyId(tx: WriteTransaction, { id, own }: PolicyChoice, now: number): Promise<string> {
    if (own === undefined) return id
    const known = await findOne(tx, authPolicies, 'name', own.name)
    const policy = {
      ...own,
      id: known?.id ?? this.#context.random.id(),
      createdAt: known?.createdAt ?? now,
      updatedAt: now,
    }
    await (known === undefined
      ? tx.collection(authPolicies).insert(policy)
      : tx.collection(authPolicies).update(policy))
    return policy.id
  }
}

function report(
  identityId: string,
  { username }: Target,
  password: string,
  found: Partial<PasswordResetReport>,
): PasswordResetReport {
  const nothing = { isNew: false, wasDisabled: false, hasOtherPolicy: false, hasLostMfa: false }
  return { ...nothing, ...found, identityId, username, weakness: adminPasswordWeakness(password, username) ?? null }
}

async function targetOf(tx: ReadTransaction, username: string | undefined): Promise<Target> {
  const named = username === undefined ? undefined : await findOne(tx, authenticators, 'username', username)
  if (named !== undefined) {
    const identity = await tx.collection(identities).get(named.identityId)
    if (identity === undefined || !isAdministrator(identity)) throw await unknownAdministrator(tx, named.username ?? '')
    return { identity, password: named, username: named.username ?? '' }
  }
  const identity = await defaultAdminIn(tx)
  const password = identity && (await passwordOf(tx, identity.id))
  const own = password?.username ?? undefined
  if (username !== undefined && own !== undefined) throw await unknownAdministrator(tx, username)
  return { identity, password, username: validUsername(username ?? own ?? USUAL_USERNAME) }
}

async function passwordOf(tx: ReadTransaction, identityId: string): Promise<Authenticator | undefined> {
  const where = both(equals('identityId', identityId), equals('method', 'updb'))
  return (await tx.collection(authenticators).find({ ...(where && { where }), limit: 1 })).items[0]
}

function validUsername(username: string): string {
  if (username.length >= 4 && username.length <= 100) return username
  throw invalidField('username', 'username must have 4 to 100 characters', username)
}

/** Grants no rights. The operator, who holds the store, only gets the names of its administrators. */
async function unknownAdministrator(tx: ReadTransaction, username: string): Promise<ControllerError> {
  const names: string[] = []
  for (const { id } of await administrators(tx)) names.push((await passwordOf(tx, id))?.username ?? '')
  const known = names.filter((name) => name !== '')
  const list = known.length === 0 ? 'none has a username' : `the usernames of administrators are ${known.join(', ')}`
  const reason = `no administrator has the username ${username}: ${list}`
  return new ControllerError('NOT_FOUND', { field: 'username', reason, value: username })
}

type AuthPolicy = RecordOf<typeof authPolicies>

/** An existing auth policy, or a new policy that is still to be written. */
export interface PolicyChoice {
  readonly id: string
  readonly own?: Omit<AuthPolicy, 'id' | 'createdAt' | 'updatedAt'>
}

const DEFAULT_ID = 'default'

/** For an administrator that neither its own policy nor the default one lets in; no other identity has it. */
const RECOVERY_POLICY = {
  name: 'Administrator recovery',
  tags: {},
  isSystem: false,
  primary: {
    cert: { allowExpiredCerts: false, allowed: false },
    extJwt: { allowed: false, allowedSigners: [] },
    updb: PLAIN_PASSWORDS,
  },
  secondary: { requireExtJwtSigner: null, requireTotp: false },
} as const

/**
 * The auth policy under which a password lets an administrator in: its current one, else the default one, else a new
 * one for it alone. No policy of other identities is changed. With `passwordOnly` it requires nothing besides.
 */
async function admittingPolicy(tx: ReadTransaction, current: string, passwordOnly = false): Promise<PolicyChoice> {
  for (const id of [current, DEFAULT_ID]) {
    const policy = await ifReadable(() => tx.collection(authPolicies).get(id))
    if (policy !== undefined && (await letsIn(tx, policy, passwordOnly))) return { id }
  }
  return { id: '', own: RECOVERY_POLICY }
}

/** Reads the password rules of the policy. */
async function rulesOf(tx: ReadTransaction, { id, own }: PolicyChoice): Promise<PasswordRules> {
  const policy = own ?? (await tx.collection(authPolicies).get(id)) ?? RECOVERY_POLICY
  return policy.primary.updb
}

async function letsIn(
  tx: ReadTransaction,
  { primary, secondary }: AuthPolicy,
  passwordOnly: boolean,
): Promise<boolean> {
  if (!primary.updb.allowed) return false
  if (passwordOnly) return !secondary.requireTotp && !secondary.requireExtJwtSigner
  if (!secondary.requireExtJwtSigner) return true
  const id = secondary.requireExtJwtSigner
  const signer = await ifReadable(() => tx.collection(externalJwtSigners).get(id))
  return signer?.enabled === true && signer.mayAuthenticateAdmins
}
