import { edgeRouterPolicies, serviceEdgeRouterPolicies, servicePolicies } from '../access/policy.resource.ts'
import { postureChecks, postureCheckTypes } from '../access/posture/posture-check.resource.ts'
import {
  endpointStates,
  failedServiceRequests,
  postureData,
  reportedProcesses,
} from '../access/posture/posture-data.resource.ts'
import { sessions } from '../access/sessions/session.resource.ts'
import { auditRecords, auditSeals, auditStates } from '../audit/audit-record.resource.ts'
import { identityTypes } from '../authority/permissions.resource.ts'
import { configs, configTypes, serviceConfigs } from '../configs/config.resource.ts'
import { authPolicies } from '../credentials/auth-policy.resource.ts'
import { authenticators } from '../credentials/authenticator.resource.ts'
import { externalJwtSigners } from '../credentials/signers/external-jwt-signer.resource.ts'
import { signingKeys } from '../credentials/signing-key.resource.ts'
import { cas } from '../enrollment/ca.resource.ts'
import { enrollments } from '../enrollment/enrollment.resource.ts'
import { identities } from '../identities/identity.resource.ts'
import type { Resource } from '../kernel/declaration/resource.ts'
import { apiSessionCertificates, apiSessions } from '../login/api-session.resource.ts'
import { mfas } from '../login/mfa/mfa.resource.ts'
import { revocations } from '../login/revocation.resource.ts'
import { controllerSettings } from '../network/controller-settings.resource.ts'
import { authRequests } from '../oidc/auth-request.resource.ts'
import type { RecordKind } from '../ports/record-storage.ts'
import { edgeRouters } from '../routers/edge-router.resource.ts'
import { controllerProcesses, routerConnections } from '../routers/router-connection.resource.ts'
import { routerKeys } from '../routers/router-key.resource.ts'
import { transitRouters } from '../routers/transit-router.resource.ts'
import { services, serviceViews } from '../services/service.resource.ts'
import { terminators } from '../services/terminator.resource.ts'

/** Facts about a kind of record: whom a change of it may concern. */
export interface KindTraits {
  /** Followers of a write read what a record was before: what was lost, to whom, and whose rights that concerns. */
  readonly before: boolean
  /** A change is told to the host. Otherwise it is bookkeeping of the controller's own. */
  readonly news: boolean
  /**
   * The open circuits that a change may end: all of them, or those of the identity, the service, the API session's endpoint
   * or the session of the record's id. A session that begins ends none.
   */
  readonly circuits: 'all' | 'identity' | 'service' | 'endpoint' | 'session' | 'none'
  /** Whose list of services may look different after a change; of an owner the record has the id, or its API session's. */
  readonly lists: 'everybody' | 'owner' | 'nobody'
  /**
   * Who makes changes that the audit trail tells: operators, or endpoints as often as they like, of whose changes the trail
   * keeps a number of bytes. None of them is told of bookkeeping.
   */
  readonly audit: 'operators' | 'endpoints' | 'none'
  /** A change may take from readers of the timeline what they may hear. */
  readonly readers: boolean
}

/** Every kind of record that a controller keeps, each with all of its facts. */
const KINDS: readonly (readonly [Resource, KindTraits])[] = [
  kind(apiSessionCertificates, {
    before: false,
    news: true,
    circuits: 'none',
    lists: 'everybody',
    audit: 'endpoints',
    readers: false,
  }),
  kind(apiSessions, {
    before: true,
    news: true,
    circuits: 'session',
    lists: 'nobody',
    audit: 'endpoints',
    readers: true,
  }),
  kind(auditRecords, { before: false, news: false, circuits: 'none', lists: 'nobody', audit: 'none', readers: false }),
  kind(auditSeals, { before: false, news: false, circuits: 'none', lists: 'nobody', audit: 'none', readers: false }),
  kind(auditStates, { before: false, news: false, circuits: 'none', lists: 'nobody', audit: 'none', readers: false }),
  kind(authPolicies, {
    before: true,
    news: true,
    circuits: 'all',
    lists: 'everybody',
    audit: 'operators',
    readers: true,
  }),
  kind(authRequests, {
    before: false,
    news: false,
    circuits: 'none',
    lists: 'everybody',
    audit: 'none',
    readers: false,
  }),
  kind(authenticators, {
    before: true,
    news: true,
    circuits: 'none',
    lists: 'nobody',
    audit: 'operators',
    readers: false,
  }),
  kind(configTypes, {
    before: false,
    news: true,
    circuits: 'none',
    lists: 'everybody',
    audit: 'operators',
    readers: false,
  }),
  kind(configs, {
    before: false,
    news: true,
    circuits: 'none',
    lists: 'everybody',
    audit: 'operators',
    readers: false,
  }),
  kind(controllerProcesses, {
    before: false,
    news: false,
    circuits: 'none',
    lists: 'everybody',
    audit: 'none',
    readers: false,
  }),
  kind(controllerSettings, {
    before: false,
    news: true,
    circuits: 'none',
    lists: 'everybody',
    audit: 'operators',
    readers: false,
  }),
  kind(cas, { before: true, news: true, circuits: 'none', lists: 'everybody', audit: 'operators', readers: false }),
  kind(edgeRouterPolicies, {
    before: false,
    news: true,
    circuits: 'all',
    lists: 'nobody',
    audit: 'operators',
    readers: false,
  }),
  kind(edgeRouters, {
    before: false,
    news: true,
    circuits: 'all',
    lists: 'nobody',
    audit: 'operators',
    readers: false,
  }),
  kind(endpointStates, {
    before: false,
    news: false,
    circuits: 'endpoint',
    lists: 'owner',
    audit: 'none',
    readers: false,
  }),
  kind(enrollments, {
    before: true,
    news: true,
    circuits: 'none',
    lists: 'nobody',
    audit: 'operators',
    readers: false,
  }),
  kind(externalJwtSigners, {
    before: true,
    news: true,
    circuits: 'all',
    lists: 'everybody',
    audit: 'operators',
    readers: true,
  }),
  kind(failedServiceRequests, {
    before: false,
    news: false,
    circuits: 'none',
    lists: 'nobody',
    audit: 'none',
    readers: false,
  }),
  kind(identities, {
    before: true,
    news: true,
    circuits: 'identity',
    lists: 'owner',
    audit: 'operators',
    readers: true,
  }),
  kind(identityTypes, {
    before: false,
    news: true,
    circuits: 'none',
    lists: 'everybody',
    audit: 'operators',
    readers: false,
  }),
  kind(mfas, { before: true, news: true, circuits: 'none', lists: 'everybody', audit: 'endpoints', readers: false }),
  kind(postureCheckTypes, {
    before: false,
    news: true,
    circuits: 'none',
    lists: 'everybody',
    audit: 'operators',
    readers: false,
  }),
  kind(postureChecks, {
    before: false,
    news: true,
    circuits: 'all',
    lists: 'everybody',
    audit: 'operators',
    readers: false,
  }),
  kind(postureData, {
    before: false,
    news: false,
    circuits: 'identity',
    lists: 'owner',
    audit: 'none',
    readers: false,
  }),
  kind(reportedProcesses, {
    before: false,
    news: false,
    circuits: 'none',
    lists: 'nobody',
    audit: 'none',
    readers: false,
  }),
  kind(revocations, {
    before: false,
    news: true,
    circuits: 'none',
    lists: 'everybody',
    audit: 'endpoints',
    readers: true,
  }),
  kind(routerConnections, {
    before: false,
    news: false,
    circuits: 'none',
    lists: 'everybody',
    audit: 'none',
    readers: false,
  }),
  kind(routerKeys, {
    before: false,
    news: false,
    circuits: 'none',
    lists: 'everybody',
    audit: 'operators',
    readers: false,
  }),
  kind(serviceConfigs, {
    before: true,
    news: true,
    circuits: 'none',
    lists: 'everybody',
    audit: 'operators',
    readers: false,
  }),
  kind(serviceEdgeRouterPolicies, {
    before: false,
    news: true,
    circuits: 'all',
    lists: 'nobody',
    audit: 'operators',
    readers: false,
  }),
  kind(servicePolicies, {
    before: false,
    news: true,
    circuits: 'all',
    lists: 'everybody',
    audit: 'operators',
    readers: false,
  }),
  kind(serviceViews, { before: false, news: false, circuits: 'none', lists: 'nobody', audit: 'none', readers: false }),
  kind(services, {
    before: true,
    news: true,
    circuits: 'service',
    lists: 'everybody',
    audit: 'operators',
    readers: false,
  }),
  kind(sessions, {
    before: true,
    news: true,
    circuits: 'session',
    lists: 'nobody',
    audit: 'endpoints',
    readers: false,
  }),
  kind(signingKeys, {
    before: false,
    news: false,
    circuits: 'none',
    lists: 'everybody',
    audit: 'operators',
    readers: false,
  }),
  kind(terminators, {
    before: true,
    news: true,
    circuits: 'none',
    lists: 'everybody',
    audit: 'endpoints',
    readers: false,
  }),
  kind(transitRouters, {
    before: false,
    news: true,
    circuits: 'none',
    lists: 'everybody',
    audit: 'operators',
    readers: false,
  }),
]

/** Every kind of record that a controller keeps. */
export const RESOURCES: readonly Resource[] = KINDS.map(([resource]) => resource)

const TRAITS: ReadonlyMap<string, KindTraits> = new Map(KINDS.map(([{ name }, traits]) => [name, traits]))
/** Another process may be of a later version: a kind that is not known here may concern anybody. */
const UNKNOWN: KindTraits = {
  before: true,
  news: true,
  circuits: 'all',
  lists: 'everybody',
  audit: 'operators',
  readers: true,
}

/** The facts about a kind, by its name. */
export function traitsOf(kind: string): KindTraits {
  return TRAITS.get(kind) ?? UNKNOWN
}

const READERS = new Map(
  RESOURCES.map(({ name, definition }) => [
    name,
    definition.adminOnly?.includes('list') ? undefined : definition.permission,
  ]),
)

/** The permission whose holders may read the entities of a kind; undefined where administrators alone may. */
export function readerOfKind(kind: string): string | undefined {
  return READERS.get(kind)
}

/** Reports whether what a record was before is read with a change of its kind. */
export function needsBefore(kind: string): boolean {
  const { before, audit } = traitsOf(kind)
  return before || audit !== 'none'
}

function kind(resource: Resource, traits: KindTraits): readonly [Resource, KindTraits] {
  return [resource, traits]
}

/** The resource of a name; a name that no declaration has is a bug of ours. */
export function resourceNamed(name: string): Resource {
  const resource = RESOURCES.find((candidate) => candidate.name === name)
  if (resource === undefined) throw new Error(`no resource is named ${name}`)
  return resource
}

/**
 * Every kind of record that a controller keeps, as a storage needs to know it: fields, unique fields, fields to index.
 *
 * @example
 * for (const kind of RECORD_KINDS) await createTable(kind.name, kind.fields)
 */
export const RECORD_KINDS: readonly RecordKind[] = RESOURCES
