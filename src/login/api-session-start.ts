import { changePosture } from '../access/posture/posture-store.ts'
import { ControllerError } from '../base/errors.ts'
import { DAY_MS, timeOrderedId } from '../base/time.ts'
import { configTypeIds } from '../configs/config-map.ts'
import { type Call, type Caller, redeemed } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { changesTo, type RecordedChange } from '../context/recorded-changes.ts'
import { callerOfSession } from '../credentials/api-session-validity.ts'
import { withKeptProof } from '../credentials/external-logins.ts'
import { requireBasis } from '../credentials/login-basis.ts'
import { recordMfaPass, recordSdkInfo } from '../facts/access/posture/rules/index.ts'
import { isDisabled } from '../facts/authority/authority.rules.ts'
import { authPolicies } from '../facts/credentials/auth-policy.resource.ts'
import { dueAtOf, type LetIn, type SignerProof } from '../facts/credentials/login-basis.rules.ts'
import { claimFields } from '../facts/credentials/signers/claimed-attributes.rules.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { apiSessions } from '../facts/login/api-session.resource.ts'
import { LoginRequest } from '../facts/login/login-requests.resource.ts'
import { mfas } from '../facts/login/mfa.resource.ts'
import { sightings } from '../facts/login/sighting.resource.ts'
import type { LiveToken } from '../facts/oidc/refresh-tokens.rules.ts'
import { readRequest } from '../kernel/declaration/read-body.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import type { WriteTransaction } from '../ports/record-storage.ts'
import { keepOwnerQuota } from '../records/owner-quota.ts'
import { findOne, newRecord } from '../records/read-records.ts'
import { MORE, type WriteBatch, writeInBatches } from '../records/write-batches.ts'

type ApiSession = RecordOf<typeof apiSessions>
type Identity = RecordOf<typeof identities>

/** The purpose for which tokens are sealed. */
export const API_SESSION_TOKEN = 'api-session-token'

/** The facts that a client sends of itself when it authenticates. */
export interface ClientInfo {
  /** Config types, by id or name, whose configs the session sees in services; `all` for every type. Default: none. */
  readonly configTypes?: readonly string[] | undefined
  readonly envInfo?: Identity['envInfo'] | undefined
  readonly sdkInfo?: Identity['sdkInfo'] | undefined
}

/** The same as a client sends it, where null counts as absent. */
export type SentClientInfo = { readonly [K in keyof ClientInfo]: ClientInfo[K] | null }

/** Reads the facts that a client sends of itself, by the schema of logins. Error: `COULD_NOT_VALIDATE`. */
export function readClientInfo(sent: SentClientInfo): ClientInfo {
  const { configTypes, envInfo, sdkInfo } = readRequest(LoginRequest, sent)
  return { configTypes: configTypes ?? [], envInfo: envInfo ?? undefined, sdkInfo: sdkInfo ?? undefined }
}

/** The parts of an API session that begins by tokens instead of a secret for `zt-session`. */
export interface TokenSession {
  readonly id: string
  /** When the last of its tokens expires, epoch milliseconds. */
  readonly tokensExpireAt: number
  readonly refreshTokens: readonly LiveToken[]
  readonly hasPassedTotp: boolean
}

/** A beginning API session, by good credentials. */
export interface Start extends LetIn {
  /** The second factor that a signer proved with the login. */
  readonly signerProof?: SignerProof | null
  readonly isCertExtendable?: boolean
  /** True where an admin asks the holder of the certificate to extend it. */
  readonly isExtendRequested?: boolean
  readonly isKeyRollRequested?: boolean
  /** SHA-1 of the certificate that authenticated. */
  readonly fingerprint?: string
  readonly improper?: boolean
  readonly client?: ClientInfo
  readonly tokens?: TokenSession
  /** Applies the consequences of good credentials, within the write that starts the session; throws to refuse. */
  readonly confirm?: (tx: WriteTransaction) => Promise<void>
}

/** Starts an API session. The identity is looked at again inside the write, so that no session outlives its identity. */
export async function startApiSession(
  context: EngineContext,
  call: Call,
  who: { readonly identity: Identity },
  start: Start,
): Promise<Caller> {
  const { clock, random, digest } = context
  const now = clock.now()
  const { client = {}, authenticatorId, trustAnchorId, basis, method, tokens } = start
  const { configTypes = [] } = client
  const token = tokens === undefined ? random.uuid() : ''
  const apiSession: ApiSession = newRecord(tokens?.id ?? timeOrderedId(now, random.id()), now, {
    identityId: who.identity.id,
    authenticatorId,
    trustAnchorId,
    basis,
    tokenDigest: tokens === undefined ? digest.sha256(token) : null,
    sealedToken: tokens === undefined ? await context.sealer.seal(token, API_SESSION_TOKEN) : null,
    ipAddress: call.remoteAddress ?? '',
    configTypes,
    isMfaRequired: false,
    isMfaComplete: tokens?.hasPassedTotp ?? false,
    isCertExtendable: start.isCertExtendable ?? false,
    improperClientCertChain: start.improper ?? false,
    lastActivityAt: now,
    method,
    tokensExpireAt: tokens?.tokensExpireAt ?? null,
    refreshTokens: tokens?.refreshTokens ?? null,
    startRevision: null,
    dueAt: now,
    signerProof: start.signerProof ?? null,
  })
  const begin = async (tx: WriteTransaction, batch: WriteBatch) => {
    const current = await tx.collection(identities).get(who.identity.id)
    if (current === undefined || isDisabled(current, now)) throw new ControllerError('INVALID_AUTH')
    // The quota may take several writes, so it comes before the changes that are made once.
    if ((await keepOwnerQuota(context, tx, apiSessions, apiSession, batch)) === MORE) return MORE
    const authPolicy = await tx.collection(authPolicies).get(current.authPolicyId)
    if (authPolicy === undefined) throw new ControllerError('INVALID_AUTH')
    await requireBasis(context, tx, start, current, authPolicy, now)
    await start.confirm?.(tx)
    const { envInfo = current.envInfo, sdkInfo = current.sdkInfo } = client
    const identity = { ...current, envInfo, sdkInfo, ...claimsAt(now, current, start) }
    // The record of an identity may be large, and most logins bring nothing new.
    if (JSON.stringify(reported(identity)) !== JSON.stringify(reported(current))) {
      await tx.collection(identities).update(identity)
    }
    const isMfaRequired = (await findOne(tx, mfas, 'identityId', identity.id))?.isVerified ?? false
    // A write has the revision after that of its snapshot.
    const startRevision = tx.revision + 1
    const dueAt = dueAtOf(apiSession, context.settings, now)
    const known = { isMfaRequired, startRevision, dueAt, configTypes: await configTypeIds(tx, configTypes) }
    const started = { ...apiSession, ...known }
    await tx.collection(apiSessions).insert(started)
    await recordEndpoint(context, tx, started, client.sdkInfo)
    return callerOfSession(tx, started, { identity, authPolicy }, token)
  }
  const caller = await writeInBatches(context, redeemed(call), begin)
  return withKeptProof(context, caller, call.bearerTokens ?? [])
}

/** The fields of an identity that a login may change. */
function reported({ envInfo, sdkInfo, claimedBy }: Identity): readonly unknown[] {
  return [envInfo, sdkInfo, claimedBy]
}

/** The fields of an identity after the token of a login claimed role attributes; none where they are as they were. */
function claimsAt(now: number, current: Identity, { trustAnchorId, claimed }: Start): Partial<Identity> {
  if (claimed === undefined || trustAnchorId === null) return {}
  const fields = claimFields(current, trustAnchorId, claimed)
  const isSame = JSON.stringify(fields.claimedBy) === JSON.stringify(current.claimedBy)
  return isSame ? {} : { ...fields, updatedAt: now }
}

/** Records the facts that posture checks ask of the endpoint: its SDK, and whether a second factor was passed as the session began. */
async function recordEndpoint(
  context: EngineContext,
  tx: WriteTransaction,
  apiSession: ApiSession,
  sdkInfo: ClientInfo['sdkInfo'],
): Promise<void> {
  if (sdkInfo === undefined && !apiSession.isMfaComplete) return
  const { id, identityId, createdAt: now } = apiSession
  await changePosture(context, tx, { identityId, apiSessionId: id, now }, [], (known) => {
    const passed = apiSession.isMfaComplete ? recordMfaPass(known, id, now) : known
    return sdkInfo === undefined ? passed : recordSdkInfo(passed, id, sdkInfo)
  })
}

/** Notes, within the write that began or used an API session, that its identity was seen: once a day and identity. */
export async function noteSightings(
  { clock }: Pick<EngineContext, 'clock'>,
  tx: WriteTransaction,
  changes: readonly RecordedChange[],
): Promise<void> {
  const kept = tx.collection(sightings)
  for (const { operation, after } of changesTo(changes, apiSessions)) {
    if (operation === 'delete' || after === undefined) continue
    const { identityId, lastActivityAt: seenAt } = after
    const before = await kept.get(identityId)
    if (before !== undefined && seenAt < before.seenAt + DAY_MS) continue
    const now = clock.now()
    if (before === undefined) await kept.insert(newRecord(identityId, now, { identityId, seenAt }))
    else await kept.update({ ...before, updatedAt: now, seenAt })
  }
}
