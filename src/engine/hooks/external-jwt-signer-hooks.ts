import { ControllerError, invalidField, unacceptableField } from '../../domain/errors.ts'
import type { WriteTransaction } from '../../ports/storage.ts'
import { authPolicies } from '../../resources/auth-policies.ts'
import type { externalJwtSigners } from '../../resources/external-jwt-signers.ts'
import type { RecordOf } from '../../resources/resource.ts'
import { isAdminCall } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import type { ResourceHooks } from '../records/resource-hooks.ts'

type Signer = RecordOf<typeof externalJwtSigners>

/** What decides whom the tokens of a signer authenticate. */
const DECISIVE = ['audience', 'certPem', 'claimsProperty', 'issuer', 'jwksEndpoint', 'kid', 'useExternalId'] as const

/**
 * What is special about external signers: exactly one source of keys, facts of a pinned certificate, and that one whose
 * trust a delegate decided never authenticates an admin.
 */
export const externalJwtSignerHooks: ResourceHooks<typeof externalJwtSigners> = {
  async prepareCreate(_context, call) {
    const mayAuthenticateAdmins = isAdminCall(call)
    return { system: { commonName: '', fingerprint: null, notBefore: null, notAfter: null, mayAuthenticateAdmins } }
  },

  async guard(context, tx, call, change) {
    if (change.kind === 'delete') {
      await refuseReferenced(tx, change.before.id)
      return undefined
    }
    const after = emptied(change.after)
    if (after.issuer === '') throw invalidField('issuer', 'issuer in body is required', '')
    checkKeySource(context, after)
    await checkEnrollment(tx, after)
    const { before } = change
    const isDecided = before !== undefined && DECISIVE.every((field) => before[field] === after[field])
    const mayAuthenticateAdmins = isDecided ? after.mayAuthenticateAdmins : isAdminCall(call)
    return { ...after, ...(await certificateMembers(context, after)), mayAuthenticateAdmins }
  },
}

/** Empty text clears. */
function emptied(signer: Signer): Signer {
  return {
    ...signer,
    certPem: signer.certPem || null,
    jwksEndpoint: signer.jwksEndpoint || null,
    kid: signer.kid || null,
    claimsProperty: signer.claimsProperty || '/sub',
    enrollNameClaimsSelector: signer.enrollNameClaimsSelector || '/sub',
    enrollAttributeClaimsSelector: signer.enrollAttributeClaimsSelector || null,
    enrollAuthPolicyId: signer.enrollAuthPolicyId || 'default',
  }
}

function checkKeySource({ keySets }: EngineContext, { certPem, jwksEndpoint }: Signer): void {
  if (certPem === null && jwksEndpoint === null) {
    throw unacceptableField('certPem', 'jwksEndpoint or certPem is required', '')
  }
  if (certPem !== null && jwksEndpoint !== null) {
    throw unacceptableField('certPem', 'only one of jwksEndpoint or certPem may be defined', '')
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

async function certificateMembers({ pki }: EngineContext, { certPem, kid }: Signer) {
  if (certPem === null) return { commonName: '', fingerprint: null, notBefore: null, notAfter: null }
  const certificates = await pki.readCertificates(certPem)
  const [certificate, ...others] = typeof certificates === 'string' ? [] : certificates
  if (certificate === undefined || others.length > 0) throw new ControllerError('INVALID_CERT_PEM')
  const { commonName, fingerprint, notBefore, notAfter } = certificate
  return { commonName, fingerprint, notBefore, notAfter, kid: kid ?? fingerprint }
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
