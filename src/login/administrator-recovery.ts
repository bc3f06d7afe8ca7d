import { ControllerError, invalidField } from '../../../domain/errors.ts'
import { both, equals } from '../../../domain/filter/index.ts'
import { isAdministrator } from '../../../domain/identity.ts'
import { NO_FAILED_ATTEMPTS } from '../../../domain/login/lockout.ts'
import { adminPasswordWeakness, passwordWeakness } from '../../../domain/login/password-rules.ts'
import type { ReadTransaction, WriteTransaction } from '../../../ports/storage.ts'
import type { RecordOf } from '../../../resources/declaration/resource.ts'
import { identities } from '../../../resources/identities/identities.ts'
import { apiSessions } from '../../../resources/login/api-sessions.ts'
import { authPolicies } from '../../../resources/login/auth-policies.ts'
import { authenticators } from '../../../resources/login/authenticators.ts'
import { AdministratorReset } from '../../../resources/login/login-requests.ts'
import { mfas } from '../../../resources/login/mfas.ts'
import { readRequest } from '../../../resources/requests/read-body.ts'
import { administrators } from '../../authority/privileged-identities.ts'
import type { SystemCall } from '../../context/call.ts'
import type { EngineContext } from '../../context/context.ts'
import { newAuthenticator } from '../../credentials/new-authenticator.ts'
import { defaultAdminIn, insertDefaultAdmin } from '../../identities/default-admin.ts'
import { endApiSessions, endLoginsUnderWay } from '../../identities/identity-state.ts'
import { deleteEntity, endReasonsOf } from '../../records/deletion.ts'
import { findOne } from '../../records/find-one.ts'
import { MORE, type Part, writeInParts } from '../../records/parts.ts'
import { refusingDuplicates } from '../../records/unique-fields.ts'
import { admittingPolicy, type PolicyChoice, rulesOf } from './admitting-policy.ts'

type Identity = RecordOf<typeof identities>
type Authenticator = RecordOf<typeof authenticators>

/** Whose password is set, and to what. */
export interface PasswordReset {
  /** Of an administrator; by default that of the default admin. */
  readonly username?: string | undefined
  /** 5 to 100 characters, as the auth policy asks for. */
  readonly password: string
  /** Also takes second factors away: MFA of the administrator, and what its auth policy asks for besides the password. */
  readonly passwordOnly?: boolean | undefined
}

/** What a reset found in the way, and did about it. */
export interface PasswordResetReport {
  readonly identityId: string
  readonly username: string
  /** There was no administrator with such a name to be: one was made. */
  readonly isNew: boolean
  /** It was disabled, and is not any more. */
  readonly wasDisabled: boolean
  /** Its auth policy shut passwords out: it has another one now. */
  readonly hasOtherPolicy: boolean
  readonly hasLostMfa: boolean
  /** Why the password is easily guessed, for a warning; null when it is not known to be. */
  readonly weakness: string | null
}

/** Who is to log in, as the store has it; without identity it is made. */
interface Target {
  readonly identity: Identity | undefined
  readonly password: Authenticator | undefined
  readonly username: string
}

/** The username of a default admin that has lost its own. */
const USUAL_USERNAME = 'admin'

/** Opens the last way in again, for whoever holds the store. */
export class AdministratorRecovery {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    this.#context = context
  }

  /**
   * Sets the password of an administrator so that it lets in: a lockout is forgotten, a disabled identity enabled, an auth
   * policy that shuts passwords out replaced, and a username made where there is none; where a store has no default admin,
   * it is made. All API sessions of the administrator end.
   *
   * @throws {ControllerError} NOT_FOUND (`username`) when no administrator has it.
   * @throws {ControllerError} COULD_NOT_VALIDATE when the auth policy refuses the password, or the username cannot be.
   *
   * @example
   * await engine.administratorRecovery.resetPassword(SYSTEM_CALL, { password: 'correct horse battery' })
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
    const work = (tx: WriteTransaction, part: Part) => this.#reset(tx, part, reset, passwordHash)
    return refusingDuplicates(authenticators, () => writeInParts(this.#context, call, work, endReasonsOf(apiSessions)))
  }

  async #reset(
    tx: WriteTransaction,
    part: Part,
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
    if ((await endApiSessions(tx, 'identityId', identity.id, part)) === MORE) return MORE
    await this.#setPassword(tx, identity.id, target, passwordHash, now)
    const choice = await admittingPolicy(tx, identity.authPolicyId, passwordOnly)
    const authPolicyId = await this.#policyId(tx, choice, now)
    const enabled = { disabledAt: null, disabledUntil: null, authPolicyId, updatedAt: now }
    await tx.collection(identities).update({ ...identity, ...enabled })
    const mfa = passwordOnly ? await findOne(tx, mfas, 'identityId', identity.id) : undefined
    if (mfa !== undefined) await deleteEntity(tx, mfas, mfa.id)
    return report(identity.id, target, password, {
      wasDisabled: identity.disabledAt !== null,
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

  /** The id of the policy that was chosen, which is written where it is new or has to be put right. */
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

/** Nobody becomes an administrator by this: whoever holds the store is told who is one. */
async function unknownAdministrator(tx: ReadTransaction, username: string): Promise<ControllerError> {
  const names: string[] = []
  for (const { id } of await administrators(tx)) names.push((await passwordOf(tx, id))?.username ?? '')
  const known = names.filter((name) => name !== '')
  const list = known.length === 0 ? 'none has a username' : `the usernames of administrators are ${known.join(', ')}`
  const reason = `no administrator has the username ${username}: ${list}`
  return new ControllerError('NOT_FOUND', { field: 'username', reason, value: username })
}
