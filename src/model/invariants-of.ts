import { textsIn } from '../base/members.ts'
import type { RoleSelector } from '../base/roles.ts'
import type { AccessType } from '../facts/access/index/index.ts'
import type {
  EndpointPosture,
  Invariant,
  PolicySet,
  PresentCheck,
  PresentEntity,
} from '../facts/access/invariants/index.ts'
import {
  applyResponses,
  emptyPostureData,
  membersOf,
  POSTURE_CHECK_TYPE_IDS,
  type PostureCheck,
  postureResponses,
  recordMfaPass,
} from '../facts/access/posture/rules/index.ts'
import type { AssertedPosture, InvariantAssertion } from './assertions.ts'
import type { Body, ModelKey } from './managed-kinds.ts'
import type { Network } from './network-model.ts'

/** Stands for the API session of an imagined endpoint. */
const IMAGINED_SESSION = ''

/** Reads an assertion with `never` as invariants: one for dialing, one for binding. `now` is epoch ms. */
export function invariantsOf(assertion: InvariantAssertion, now: number): readonly Invariant[] {
  const { never, unless, via, posture, at } = assertion
  const selector = (roles: readonly string[]): RoleSelector => ({ roles, semantic: never.semantic ?? 'AnyOf' })
  const instant = at === undefined ? now : Date.parse(at)
  const asked = [
    ['Dial', never.dial],
    ['Bind', never.bind],
  ] as const satisfies readonly (readonly [AccessType, readonly string[] | undefined])[]
  return asked.flatMap(([type, service]) =>
    service === undefined
      ? []
      : [
          {
            identity: selector(never.identity),
            type,
            service: selector(service),
            via: anyOf(via),
            unless: unless && {
              identity: anyOf(unless.identity),
              service: anyOf(unless.service),
              posture: unless.posture,
            },
            posture: posture && endpointPosture(posture, instant),
          },
        ],
  )
}

function anyOf(roles: readonly string[] | undefined): RoleSelector | undefined {
  return roles && { roles, semantic: 'AnyOf' }
}

function endpointPosture({ mfa, ...facts }: AssertedPosture, at: number): EndpointPosture {
  const reported = applyResponses(emptyPostureData(), IMAGINED_SESSION, postureResponses(facts), at)
  const data = mfa === true ? recordMfaPass(reported, IMAGINED_SESSION, at) : reported
  return { data, apiSessionId: IMAGINED_SESSION, at }
}

/** All policies and entities of a network, by name. */
export function policySetOf(network: Network): PolicySet {
  const policies = (key: ModelKey) =>
    network.all(key).map(({ name, body }) => ({
      id: name,
      name,
      semantic: body.semantic === 'AllOf' ? ('AllOf' as const) : ('AnyOf' as const),
      identityRoles: textsIn(body.identityRoles),
      serviceRoles: textsIn(body.serviceRoles),
      edgeRouterRoles: textsIn(body.edgeRouterRoles),
      postureCheckRoles: textsIn(body.postureCheckRoles),
      type: body.type === 'Bind' ? ('Bind' as const) : ('Dial' as const),
    }))
  return {
    servicePolicies: policies('servicePolicies'),
    edgeRouterPolicies: policies('edgeRouterPolicies'),
    serviceEdgeRouterPolicies: policies('serviceEdgeRouterPolicies'),
    identities: present(network, 'identities'),
    services: present(network, 'services'),
    edgeRouters: present(network, 'edgeRouters'),
    postureChecks: network.all('postureChecks').flatMap(({ name, body }) => presentCheck(name, body)),
  }
}

function present(network: Network, key: ModelKey): readonly PresentEntity[] {
  return network.all(key).map(({ name, body }) => ({ id: name, name, roleAttributes: textsIn(body.roleAttributes) }))
}

function presentCheck(name: string, body: Body): readonly PresentCheck[] {
  const typeId = POSTURE_CHECK_TYPE_IDS.find((known) => known === body.typeId)
  if (typeId === undefined) return []
  const members = Object.entries(membersOf(typeId)).map(([member, { absent }]) => [member, body[member] ?? absent])
  // The type determines the members, and each has a value.
  const check = { id: name, name, typeId, ...Object.fromEntries(members) } as PostureCheck
  return [{ id: name, roleAttributes: textsIn(body.roleAttributes), check }]
}
