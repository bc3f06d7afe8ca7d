import { ControllerError } from '../../domain/errors.ts'
import { isDisabled } from '../../domain/identity.ts'
import { dueAtOf } from '../../domain/login/api-session-end.ts'
import type { LetIn, SignerProof } from '../../domain/login/login-basis.ts'
import type { LiveToken } from '../../domain/oidc/refresh-tokens.ts'
import { recordMfaPass, recordSdkInfo } from '../../domain/posture/index.ts'
import { timeOrderedId } from '../../domain/time/time-ordered-id.ts'
import type { WriteTransaction } from '../../ports/storage.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import { identities } from '../../resources/identities/identities.ts'
import { apiSessions } from '../../resources/login/api-sessions.ts'
import { authPolicies } from '../../resources/login/auth-policies.ts'
import { LoginRequest } from '../../resources/login/login-requests.ts'
import { mfas } from '../../resources/login/mfas.ts'
import { readRequest } from '../../resources/requests/read-body.ts'
import { configTypeIds } from '../configs/config-map.ts'
import { type Call, type Caller, redeemed } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { callerOfSession } from '../credentials/api-session-standing.ts'
import { withKeptProof } from '../credentials/external-logins.ts'
import { requireBasis } from '../credentials/login-basis.ts'
import { changePosture } from '../posture/posture-store.ts'
import { findOne } from '../records/find-one.ts'
import { newRecord } from '../records/new-record.ts'
import { MORE, type Part, writeInParts } from '../records/parts.ts'
import { makeRoom } from '../records/room.ts'

type ApiSession = RecordOf<typeof apiSessions>
type Identity = RecordOf<typeof identities>

/** The purpose for which tokens are sealed. */
export const API_SESSION_TOKEN = 'api-session-token'

/** What a client tells of itself when it authenticates. */
export interface ClientInfo {
  /** Config types, by id or name, whose configs the session sees in services; `all` for every type. Default: none. */
  readonly configTypes?: readonly string[] | undefined
  readonly envInfo?: Identity['envInfo'] | undefined
  readonly sdkInfo?: Identity['sdkInfo'] | undefined
}

/** The same as a client sends it, where null says as little as nothing. */
export type SentClientInfo = { readonly [K in keyof ClientInfo]: ClientInfo[K] | null }

/** What a client tells of itself, by the schema of logins. Error: `COULD_NOT_VALIDATE`. */
export function readClientInfo(sent: SentClientInfo): ClientInfo {
  const { configTypes, envInfo, sdkInfo } = readRequest(LoginRequest, sent)
  return { configTypes: configTypes ?? [], envInfo: envInfo ?? undefined, sdkInfo: sdkInfo ?? undefined }
}

/** What an API session is made of that begins by tokens instead of a secret for `zt-session`. */
export interface TokenSession {
  readonly id: string
  /** When the last of its tokens expires, epoch milliseconds. */
  readonly tokensExpireAt: number
  readonly refreshTokens: readonly LiveToken[]
  readonly hasPassedTotp: boolean
}

/** What good credentials begin. */
export interface Start extends LetIn {
  /** The second factor that a signer proved with the login. */
  readonly signerProof?: SignerProof | null
  readonly isCertExtendable?: boolean
  /** What an admin asks the holder of the certificate for. */
  readonly isExtendRequested?: boolean
  readonly isKeyRollRequested?: boolean
  /** SHA-1 of the certificate that authenticated. */
  readonly fingerprint?: string
  readonly improper?: boolean
  readonly client?: ClientInfo
  readonly tokens?: TokenSession
  /** Does what follows from good credentials, within the write that starts the session; throws to refuse. */
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
  const begin = async (tx: WriteTransaction, part: Part) => {
    const current = await tx.collection(identities).get(who.identity.id)
    if (current === undefined || isDisabled(current, now)) throw new ControllerError('INVALID_AUTH')
    // What takes several writes comes before what is done once.
    if ((await makeRoom(context, tx, apiSessions, apiSession, part)) === MORE) return MORE
    const authPolicy = await tx.collection(authPolicies).get(current.authPolicyId)
    if (authPolicy === undefined) throw new ControllerError('INVALID_AUTH')
    await requireBasis(context, tx, start, current, authPolicy, now)
    await start.confirm?.(tx)
    const { envInfo = current.envInfo, sdkInfo = current.sdkInfo } = client
    const identity = { ...current, envInfo, sdkInfo }
    // The record of an identity may be large, and most logins tell nothing new.
    if (JSON.stringify([envInfo, sdkInfo]) !== JSON.stringify([current.envInfo, current.sdkInfo])) {
      await tx.collection(identities).update(identity)
    }
    const isMfaRequired = (await findOne(tx, mfas, 'identityId', identity.id))?.isVerified ?? false
    // A write has the revision that follows what it sees.
    const startRevision = tx.revision + 1
    const dueAt = dueAtOf(apiSession, context.settings, now)
    const known = { isMfaRequired, startRevision, dueAt, configTypes: await configTypeIds(tx, configTypes) }
    const started = { ...apiSession, ...known }
    await tx.collection(apiSessions).insert(started)
    await recordEndpoint(context, tx, started, client.sdkInfo)
    return callerOfSession(tx, started, { identity, authPolicy }, token)
  }
  const caller = await writeInParts(context, redeemed(call), begin)
  return withKeptProof(context, caller, call.bearerTokens ?? [])
}

/** What posture checks ask of the endpoint: its SDK, and whether a second factor was passed as the session began. */
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
