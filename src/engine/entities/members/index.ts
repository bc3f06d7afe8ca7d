import type { Resource } from '../../../resources/resource.ts'
import { apiSessionMembers } from './api-session-members.ts'
import { authenticatorMembers } from './authenticator-members.ts'
import { edgeRouterMembers } from './edge-router-members.ts'
import { externalJwtSignerMembers } from './external-jwt-signer-members.ts'
import { identityMembers } from './identity-members.ts'
import { postureCheckMembers } from './posture-check-members.ts'
import { postureCheckTypeMembers } from './posture-check-type-members.ts'
import type { DeriveMembers } from './render.ts'
import { serviceMembers } from './service-members.ts'
import { sessionMembers } from './session-members.ts'
import { terminatorMembers } from './terminator-members.ts'
import { transitRouterMembers } from './transit-router-members.ts'

/** Who computes the derived members of which resource; the rest have none. */
const MEMBERS = new Map<string, unknown>([
  ['api-sessions', apiSessionMembers],
  ['authenticators', authenticatorMembers],
  ['edge-routers', edgeRouterMembers],
  ['external-jwt-signers', externalJwtSignerMembers],
  ['identities', identityMembers],
  ['posture-check-types', postureCheckTypeMembers],
  ['posture-checks', postureCheckMembers],
  ['services', serviceMembers],
  ['sessions', sessionMembers],
  ['terminators', terminatorMembers],
  ['transit-routers', transitRouterMembers],
])

/** The computation of a resource's derived members; the table above pairs each with its own resource. */
export function membersOf<R extends Resource>(resource: R): DeriveMembers<R> | undefined {
  return MEMBERS.get(resource.name) as DeriveMembers<R> | undefined
}
