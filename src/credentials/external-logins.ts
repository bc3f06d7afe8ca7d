import { type TokenProblem, TokenRefused } from '../base/errors.ts'
import { type Caller, SYSTEM_CALL } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { hasRights, isDisabled } from '../facts/authority/authority.rules.ts'
import { authPolicies } from '../facts/credentials/auth-policy.resource.ts'
import { dueAtOf } from '../facts/credentials/login-basis.rules.ts'
import { textClaim } from '../facts/credentials/signers/claims.rules.ts'
import { externalJwtSigners } from '../facts/credentials/signers/external-jwt-signer.resource.ts'
import { offeredSigners } from '../facts/credentials/signers/offered-signers.rules.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { apiSessions } from '../facts/login/api-session.resource.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { equals } from '../kernel/filter/index.ts'
import type { Claims } from '../ports/credentials.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import { findOne } from '../records/read-records.ts'
import { withMissing } from './api-session-validity.ts'
import type { MakeIdentity, Voucher } from './certificate-holder.ts'
import { mayProve, signerProofOf } from './login-basis.ts'

type Signer = RecordOf<typeof externalJwtSigners>
type Identity = RecordOf<typeof identities>

/** A token that its signer verified, and the signer. */
export interface VerifiedToken {
  readonly signer: Signer
  readonly claims: Claims
}

/** The identity that a token authenticates. */
export interface TokenHolder extends VerifiedToken {
  readonly identity: RecordOf<typeof identities>
  readonly authPolicy: RecordOf<typeof authPolicies>
}

/** The signers whose tokens are accepted at all. */
export async function enabledSigners({ storage }: EngineContext): Promise<readonly Signer[]> {
  const { items } = await storage.read((tx) =>
    tx.collection(externalJwtSigners).find({ where: equals('enabled', true) }),
  )
  return items
}

/** Verifies the tokens whose issuer is exactly that of one of the signers; the others are left out. */
export async function verifyTokens(
  { externalTokens, clock }: EngineContext,
  tokens: readonly string[],
  signers: readonly Signer[],
): Promise<{ readonly verified: readonly VerifiedToken[]; readonly problems: readonly TokenProblem[] }> {
  const now = clock.now()
  const verified: VerifiedToken[] = []
  const problems: TokenProblem[] = []
  for (const token of tokens) {
    const issuer = externalTokens.issuerOf(token)
    const signer = signers.find((candidate) => candidate.issuer === issuer)
    if (signer === undefined) continue
    const verdict = await externalTokens.verify(token, signer, now)
    if (verdict.outcome === 'valid') verified.push({ signer, claims: verdict.claims })
    else problems.push(verdict.outcome)
  }
  return { verified, problems }
}

/**
 * Finds the identity of the first acceptable token; `makeIdentity` makes it where there is none. Error: `UNAUTHORIZED` with the problem of
 * the tokens.
 */
export async function tokenHolder(
  context: EngineContext,
  tokens: readonly string[],
  makeIdentity: MakeIdentity | undefined,
): Promise<TokenHolder> {
  const signers = await enabledSigners(context)
  const { verified, problems } = await verifyTokens(context, tokens, signers)
  const find = (token: VerifiedToken) => context.storage.read((tx) => holderIn(tx, token, context.clock.now()))
  for (const token of verified) {
    const found = await find(token)
    const isMade = found === 'unknown' && (await makeIdentity?.(claimOf(token) ?? '', voucherOf(context, token)))
    const holder = isMade ? await find(token) : found
    if (typeof holder === 'object') return holder
  }
  throw new TokenRefused('primary', problems[0] ?? 'missing', offeredSigners(signers))
}

/**
 * A caller whose policy requires a token of a signer with every request, judged by the tokens of this one. A token of another identity
 * proves nothing, unless `allowTokensOfOthers`. Neither does a token of a signer that a delegate decided, for an identity with rights.
 */
export async function withSignerProof(
  context: EngineContext,
  caller: Caller,
  tokens: readonly string[],
): Promise<Caller> {
  const { signer, ...missing } = caller.missing
  if (signer === undefined) return caller
  const proof = await signerProof(context, signer, caller.identity, tokens)
  if (proof === 'proven') return withMissing(caller, missing)
  return { ...caller, missing: { ...caller.missing, signerProblem: proof } }
}

/**
 * The same, and the API session keeps the proof: routers and streams ask for no such token, and go by the last request that brought one.
 */
export async function withKeptProof(
  context: EngineContext,
  caller: Caller,
  tokens: readonly string[],
): Promise<Caller> {
  const judged = await withSignerProof(context, caller, tokens)
  const { id, signerProof: known } = caller.apiSession
  const { signer } = caller.missing
  if (signer === undefined || judged.missing.signer !== undefined) return judged
  const proof = signerProofOf(context, signer, caller.identity)
  if (JSON.stringify(known) === JSON.stringify(proof)) return judged
  await context.writes.run(SYSTEM_CALL, async (tx) => {
    const stored = await tx.collection(apiSessions).get(id)
    if (stored === undefined) return
    const proved = { ...stored, signerProof: proof }
    const dueAt = dueAtOf(proved, context.settings, context.clock.now())
    await tx.collection(apiSessions).update({ ...proved, dueAt })
  })
  return judged
}

/** Whether one of the tokens is of the signer and names the identity; otherwise the problem with them. */
export async function signerProof(
  context: EngineContext,
  signer: Signer,
  identity: Identity,
  tokens: readonly string[],
): Promise<'proven' | TokenProblem> {
  const asked = mayProve(signer, identity, context.clock.now()) ? [signer] : []
  const { verified, problems } = await verifyTokens(context, tokens, asked)
  const { allowTokensOfOthers } = context.settings.profile
  if (verified.some((token) => allowTokensOfOthers || names(token, identity))) return 'proven'
  return problems[0] ?? (verified.length > 0 ? 'invalid' : 'missing')
}

function names(token: VerifiedToken, { id, externalId }: Identity): boolean {
  const claimed = claimOf(token)
  return claimed !== undefined && claimed === (token.signer.useExternalId ? externalId : id)
}

/** The id or the external id of an identity that a token claims. */
function claimOf({ signer, claims }: VerifiedToken): string | undefined {
  return textClaim(claims, signer.claimsProperty)
}

/** A token as the voucher for the person of its external id. */
function voucherOf({ clock }: EngineContext, token: VerifiedToken): Voucher {
  const admits: Voucher['admits'] = async (tx, identity) =>
    (await currentSigner(tx, token)) !== undefined && (await holding(tx, token, identity, clock.now())) !== undefined
  return { id: token.signer.id, limit: 'identitiesPerSigner', admits }
}

/** The signer of a verified token in a snapshot; undefined when it was changed or disabled since. */
async function currentSigner(tx: ReadTransaction, { signer }: VerifiedToken): Promise<Signer | undefined> {
  const current = await tx.collection(externalJwtSigners).get(signer.id)
  return current?.enabled && current.updatedAt === signer.updatedAt ? current : undefined
}

/**
 * The identity that a verified token authenticates in a snapshot; undefined when its signer was changed or disabled since. `unknown` where
 * no identity has its external id.
 */
async function holderIn(
  tx: ReadTransaction,
  token: VerifiedToken,
  now: number,
): Promise<TokenHolder | 'unknown' | undefined> {
  const { signer } = token
  const claimed = claimOf(token)
  if (claimed === undefined || (await currentSigner(tx, token)) === undefined) return undefined
  if (!signer.useExternalId) return holding(tx, token, await tx.collection(identities).get(claimed), now)
  const identity = await findOne(tx, identities, 'externalId', claimed)
  return identity === undefined ? 'unknown' : holding(tx, token, identity, now)
}

/** The identity as the holder of a token; undefined where the token may not authenticate it. */
async function holding(
  tx: ReadTransaction,
  { signer, claims }: VerifiedToken,
  identity: Identity | undefined,
  now: number,
): Promise<TokenHolder | undefined> {
  const authPolicy = identity && (await tx.collection(authPolicies).get(identity.authPolicyId))
  if (identity === undefined || authPolicy === undefined) return undefined
  if (isDisabled(identity, now)) return undefined
  if (hasRights(identity) && !signer.mayAuthenticateAdmins) return undefined
  const { allowed, allowedSigners } = authPolicy.primary.extJwt
  if (!allowed || (allowedSigners.length > 0 && !allowedSigners.includes(signer.id))) return undefined
  return { signer, claims, identity, authPolicy }
}
