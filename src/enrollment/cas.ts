import { invalidField, unacceptableField } from '../base/errors.ts'
import { isAdminCall } from '../context/call.ts'
import { claimProblem, DEFAULT_IDENTITY_NAME_FORMAT, withCriteria } from '../facts/credentials/signers/claims.rules.ts'
import { type Cas, cas } from '../facts/enrollment/ca.resource.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import type { Behaviour } from '../records/behaviour.ts'
import { findOne } from '../records/read-records.ts'
import { checkRoleAttributes } from '../records/references.ts'

type Ca = RecordOf<typeof cas>

/**
 * The particular rules of certificate authorities: they begin unverified, with the token that verifies them. An
 * authority whose claims a delegate decided never authenticates an admin.
 */
export const caBehaviour: Behaviour<Cas> = {
  resource: cas,

  async prepare({ pki, random }, _call, request) {
    if (request.kind !== 'create') return undefined
    const certificates = await pki.readCertificates(request.input.certPem)
    const [authority] = typeof certificates === 'string' ? [] : certificates
    if (authority === undefined) throw invalidField('certPem', 'could not be parsed as PEM certificates', '')
    if (!authority.isAuthority) throw invalidField('certPem', 'certificate is not a CA', '')
    if (await pki.isOwnAuthority(request.input.certPem)) throw invalidField('certPem', "is this network's own CA", '')
    return { system: { fingerprint: authority.fingerprint, verificationToken: random.uuid() } }
  },

  async guard(_context, tx, call, change) {
    if (change.kind === 'delete') return undefined
    const { after } = change
    if (change.kind === 'create') {
      const known = await findOne(tx, cas, 'fingerprint', after.fingerprint)
      if (known !== undefined) throw invalidField('certPem', `certificate already used as CA ${known.id}`, '')
    }
    const externalIdClaim = after.externalIdClaim && withCriteria(after.externalIdClaim)
    checkClaim(externalIdClaim)
    const { before, restored } = change
    if (after.identityRoles !== before?.identityRoles) checkRoleAttributes('identityRoles', after.identityRoles)
    const isUnchanged = JSON.stringify(externalIdClaim) === JSON.stringify(before?.externalIdClaim)
    const isTrusted = before === undefined ? isAdminCall(call) : before.mayAuthenticateAdmins
    // An undo restores the trust that the authority had then. Other edits by an administrator do not make it trusted:
    // trust is set by a request of its own.
    const isEarned = restored?.mayAuthenticateAdmins ?? (isTrusted && (isUnchanged || isAdminCall(call)))
    const mayAuthenticateAdmins = isEarned && (restored?.mayAuthenticateAdmins === undefined || isAdminCall(call))
    return {
      ...after,
      externalIdClaim,
      identityNameFormat: after.identityNameFormat || DEFAULT_IDENTITY_NAME_FORMAT,
      mayAuthenticateAdmins,
    }
  },
}

function checkClaim(externalIdClaim: Ca['externalIdClaim']): void {
  const problem = externalIdClaim && claimProblem(externalIdClaim)
  if (problem) throw unacceptableField(`externalIdClaim.${problem.member}`, problem.reason, '')
}
