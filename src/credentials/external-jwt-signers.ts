import { DECISIVE_OF_SIGNERS, isSame } from '../authority/trust.ts'
import { ControllerError, invalidField, unacceptableField } from '../base/errors.ts'
import { instant, NO_INSTANT } from '../base/time.ts'
import { type Call, isAdminCall } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { authPolicies } from '../facts/credentials/auth-policy.resource.ts'
import {
  type ExternalJwtSigners,
  externalJwtSigners,
} from '../facts/credentials/signers/external-jwt-signer.resource.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import type { WriteTransaction } from '../ports/record-storage.ts'
import type { Behaviour } from '../records/behaviour.ts'

type Signer = RecordOf<typeof externalJwtSigners>

/**
 * The particular rules of external signers: they have exactly one source of keys and the facts of a pinned certificate.
 * A signer whose trust a delegate decided never authenticates an admin.
 */
export const externalJwtSignerBehaviour: Behaviour<ExternalJwtSigners> = {
  resource: externalJwtSigners,

  /** A patch without certificate leaves its facts as they are. */
  async prepare(context, _call, { input: { certPem } }) {
    return certPem === undefined ? undefined : { system: await certificateFacts(context, certPem) }
  },

  async guard(context, tx, call, change) {
    if (change.kind === 'delete') {
      await refuseReferenced(tx, change.before.id)
      return undefined
    }
    const after = withKeyId(emptied(change.after))
    if (after.issuer === '') throw invalidField('issuer', 'issuer in body is required', '')
    checkKeySource(context, after)
    await checkEnrollment(tx, after)
    const { before, restored } = change
    if (restored?.mayAuthenticateAdmins !== undefined) {
      // An undo restores the trust that the signer had with the restored values; an undo by a delegate never restores trust.
      const mayAuthenticateAdmins = restored.mayAuthenticateAdmins && isAdminCall(call)
      const { decidedById = deciderOf(call) } = restored
      return { ...after, mayAuthenticateAdmins, decidedById }
    }
    const isUnchanged = before !== undefined && isSame(before, after, DECISIVE_OF_SIGNERS)
    // Other edits by an administrator do not make it trusted: trust is set by a request of its own.
    const isTrusted = before === undefined ? isAdminCall(call) : before.mayAuthenticateAdmins
    const mayAuthenticateAdmins = isTrusted && (isUnchanged || isAdminCall(call))
    if (isUnchanged) return { ...after, mayAuthenticateAdmins }
    return { ...after, mayAuthenticateAdmins, decidedById: deciderOf(call) }
  },

  /** A signer without a certificate of its own is never shown as valid. */
  members: async (_context, _tx, _call, records) =>
    records.map(({ notBefore, notAfter }) => ({
      notBefore: instant(notBefore ?? NO_INSTANT),
      notAfter: instant(notAfter ?? NO_INSTANT),
    })),
}

/** The delegate that decides by a call; null where an administrator does. */
function deciderOf(call: Call): string | null {
  return call.by === 'caller' && !isAdminCall(call) ? call.caller.identity.id : null
}

/** Empty text clears. */
function emptied(signer: Signer): Signer {
  return {
    ...signer,
    certPem: signer.certPem || null,
    jwksEndpoint: signer.jwksEndpoint || null,
    kid: signer.kid || null,
    externalAuthUrl: signer.externalAuthUrl || null,
    attributeClaimsSelector: signer.attributeClaimsSelector || null,
    claimsProperty: signer.claimsProperty || '/sub',
    enrollNameClaimsSelector: signer.enrollNameClaimsSelector || '/sub',
    enrollAttributeClaimsSelector: signer.enrollAttributeClaimsSelector || null,
    enrollAuthPolicyId: signer.enrollAuthPolicyId || 'default',
  }
}

/** A pinned certificate is known by its fingerprint unless the signer names a key id. */
function withKeyId(signer: Signer): Signer {
  return signer.certPem === null ? signer : { ...signer, kid: signer.kid ?? signer.fingerprint }
}

function checkKeySource({ keySets }: EngineContext, { certPem, jwksEndpoint }: Signer): void {
  if (certPem === null && jwksEndpoint === null) {
    throw unacceptableField('certPem', 'jwksEndpoint or certPem is required', '')
  }
  if (certPem !== null && jwksEndpoint !== null) {
    throw unacceptableField('certPem', 'only one of jwksEndpoint or certPem may be defined', '')
  }
  if (jwksEndpoint !== null && !URL.canParse(jwksEndpoint)) {
    throw invalidField(
      'jwksEndpoint',
      `jwksEndpoint in body must be of type uri: ${JSON.stringify(jwksEndpoint)}`,
      jwksEndpoint,
    )
  }
  const refusal = jwksEndpoint === null ? undefined : keySets.refusal(jwksEndpoint)
  if (refusal !== undefined) throw unacceptableField('jwksEndpoint', refusal, jwksEndpoint)
}

async function checkEnrollment(tx: WriteTransaction, signer: Signer): Promise<void> {
  const field = 'enrollAuthPolicyId'
  const policy = await tx.collection(authPolicies).get(signer.enrollAuthPolicyId)
  if (policy === undefined) throw invalidField(field, 'the auth policy could not be found', signer.enrollAuthPolicyId)
  const refuse = (reason: string) => invalidField(field, reason, signer.enrollAuthPolicyId)
  if (signer.enrollToTokenEnabled && !policy.primary.extJwt.allowed) {
    throw refuse('primary external jwt authentication on auth policy is disabled')
  }
  if (signer.enrollToCertEnabled && !policy.primary.cert.allowed) {
    throw refuse('primary certificate authentication on auth policy is disabled')
  }
}

async function certificateFacts({ pki }: EngineContext, certPem: string | null) {
  if (!certPem) return { commonName: '', fingerprint: null, notBefore: null, notAfter: null }
  const certificates = await pki.readCertificates(certPem)
  const [certificate, ...others] = typeof certificates === 'string' ? [] : certificates
  if (certificate === undefined || others.length > 0) throw new ControllerError('INVALID_CERT_PEM')
  const { commonName, fingerprint, notBefore, notAfter } = certificate
  return { commonName, fingerprint, notBefore, notAfter }
}

async function refuseReferenced(tx: WriteTransaction, id: string): Promise<void> {
  const { items } = await tx.collection(authPolicies).find()
  const users = items.filter(
    ({ primary, secondary }) => primary.extJwt.allowedSigners.includes(id) || secondary.requireExtJwtSigner === id,
  )
  if (users.length === 0) return
  const value = `[${users
    .slice(0, 10)
    .map((policy) => policy.id)
    .join(' ')}]`
  const reason = `entity type externalJwtSigners referenced by authPolicies: ${value}`
  const isAllowed = users.some(({ primary }) => primary.extJwt.allowedSigners.includes(id))
  const field = isAllowed ? 'primary.extJwt.allowedSigners' : 'secondary.requireExtJwtSigner'
  throw new ControllerError('CAN_NOT_DELETE_REFERENCED_ENTITY', { field, reason, value })
}
