import type { Resource } from '../../kernel/declaration/resource.ts'
import type { RecordKind } from '../../ports/record-storage.ts'
import { accessRequests } from '../access/access-request.resource.ts'
import { edgeRouterPolicies, serviceEdgeRouterPolicies, servicePolicies } from '../access/policy.resource.ts'
import { postureChecks, postureCheckTypes } from '../access/posture/posture-check.resource.ts'
import {
  endpointStates,
  failedServiceRequests,
  postureData,
  reportedProcesses,
} from '../access/posture/posture-data.resource.ts'
import { sessions } from '../access/session.resource.ts'
import { auditRecords, auditSeals, auditStates } from '../audit/audit-record.resource.ts'
import { identityTypes } from '../authority/permissions.resource.ts'
import { configs, configTypes, serviceConfigs } from '../configs/config.resource.ts'
import { authPolicies } from '../credentials/auth-policy.resource.ts'
import { authenticators } from '../credentials/authenticator.resource.ts'
import { externalJwtSigners } from '../credentials/signers/external-jwt-signer.resource.ts'
import { signingKeys } from '../credentials/signing-key.resource.ts'
import { cas } from '../enrollment/ca.resource.ts'
import { enrollments, formerInviters } from '../enrollment/enrollment.resource.ts'
import { identities } from '../identities/identity.resource.ts'
import { apiSessionCertificates, apiSessions } from '../login/api-session.resource.ts'
import { mfas } from '../login/mfa.resource.ts'
import { revocations } from '../login/revocation.resource.ts'
import { sightings } from '../login/sighting.resource.ts'
import { controllerSettings } from '../network/controller-settings.resource.ts'
import { authRequests } from '../oidc/auth-request.resource.ts'
import { networkAuthorities } from '../pki/network-authority.resource.ts'
import { edgeRouters } from '../routers/edge-router.resource.ts'
import { controllerProcesses, routerConnections } from '../routers/router-connection.resource.ts'
import { routerKeys } from '../routers/router-key.resource.ts'
import { transitRouters } from '../routers/transit-router.resource.ts'
import { services, serviceViews } from '../services/service.resource.ts'
import { terminators } from '../services/terminator.resource.ts'
import { eventCursors, eventDeliveries } from '../webhooks/delivery.resource.ts'
import { webhooks } from '../webhooks/webhook.resource.ts'

/** Facts about a kind of record: the consequences of its changes. */
export interface KindTraits {
  /** True when followers of a write need the former record: its owner, and the rights that were lost. */
  readonly before: boolean
  /** True when a change becomes an event for the host. Otherwise it is the controller's own bookkeeping. */
  readonly news: boolean
  /**
   * The open circuits that a change may end: all circuits, or the circuits of the identity, the service, the API session's endpoint or the
   * session with the record's id. A new session ends no circuit.
   */
  readonly circuits: 'all' | 'identity' | 'service' | 'endpoint' | 'session' | 'none'
  /**
   * The identities whose list of services a change may affect. For `owner`, the record holds the id of the identity or of its API session.
   */
  readonly lists: 'everybody' | 'owner' | 'nobody'
  /**
   * The authors of changes in the audit trail: operators, or endpoints. Endpoints may cause any number of changes, so the trail limits
   * their bytes. Bookkeeping is not recorded.
   */
  readonly audit: 'operators' | 'endpoints' | 'none'
  /** True when a change may affect the events that readers of the timeline may see. */
  readonly readers: boolean
}

/** Kinds that operators create and change, and that may affect any identity's list of services. */
const ENTITY: KindTraits = {
  before: false,
  news: true,
  circuits: 'none',
  lists: 'everybody',
  audit: 'operators',
  readers: false,
}
/** Kinds that come and go with the use of the network. */
const OF_ENDPOINTS: KindTraits = { ...ENTITY, audit: 'endpoints' }
/** Kinds of record that are the controller's own bookkeeping. */
const BOOKKEEPING: KindTraits = { ...ENTITY, news: false, audit: 'none' }
/** Kinds of bookkeeping that no list shows. */
const UNSEEN: KindTraits = { ...BOOKKEEPING, lists: 'nobody' }

/** Every kind of record that a controller keeps, each with all of its facts. */
const KINDS: readonly (readonly [Resource, KindTraits])[] = [
  kind(accessRequests, { ...OF_ENDPOINTS, before: true, lists: 'nobody' }),
  kind(apiSessionCertificates, OF_ENDPOINTS),
  kind(apiSessions, { ...OF_ENDPOINTS, before: true, circuits: 'session', lists: 'nobody', readers: true }),
  kind(auditRecords, UNSEEN),
  kind(auditSeals, UNSEEN),
  kind(auditStates, UNSEEN),
  kind(authPolicies, { ...ENTITY, before: true, circuits: 'all', readers: true }),
  kind(authRequests, BOOKKEEPING),
  kind(authenticators, { ...ENTITY, before: true, lists: 'nobody' }),
  kind(configTypes, ENTITY),
  kind(configs, ENTITY),
  kind(controllerProcesses, BOOKKEEPING),
  kind(controllerSettings, ENTITY),
  kind(cas, { ...ENTITY, before: true }),
  kind(edgeRouterPolicies, { ...ENTITY, circuits: 'all', lists: 'nobody' }),
  kind(edgeRouters, { ...ENTITY, circuits: 'all', lists: 'nobody' }),
  kind(endpointStates, { ...UNSEEN, circuits: 'endpoint', lists: 'owner' }),
  kind(enrollments, { ...ENTITY, before: true, lists: 'nobody' }),
  kind(eventCursors, UNSEEN),
  kind(eventDeliveries, UNSEEN),
  kind(externalJwtSigners, { ...ENTITY, before: true, circuits: 'all', readers: true }),
  kind(failedServiceRequests, UNSEEN),
  kind(formerInviters, UNSEEN),
  kind(identities, { ...ENTITY, before: true, circuits: 'identity', lists: 'owner', readers: true }),
  kind(identityTypes, ENTITY),
  kind(mfas, { ...OF_ENDPOINTS, before: true }),
  kind(networkAuthorities, { ...ENTITY, lists: 'nobody' }),
  kind(postureCheckTypes, ENTITY),
  kind(postureChecks, { ...ENTITY, circuits: 'all' }),
  kind(postureData, { ...UNSEEN, circuits: 'identity', lists: 'owner' }),
  kind(reportedProcesses, UNSEEN),
  kind(revocations, { ...OF_ENDPOINTS, readers: true }),
  kind(routerConnections, BOOKKEEPING),
  kind(routerKeys, { ...BOOKKEEPING, audit: 'operators' }),
  kind(serviceConfigs, { ...ENTITY, before: true }),
  kind(serviceEdgeRouterPolicies, { ...ENTITY, circuits: 'all', lists: 'nobody' }),
  kind(servicePolicies, { ...ENTITY, circuits: 'all' }),
  kind(serviceViews, UNSEEN),
  kind(services, { ...ENTITY, before: true, circuits: 'service' }),
  kind(sessions, { ...OF_ENDPOINTS, before: true, circuits: 'session', lists: 'nobody' }),
  kind(sightings, UNSEEN),
  kind(signingKeys, { ...BOOKKEEPING, audit: 'operators' }),
  kind(terminators, { ...OF_ENDPOINTS, before: true }),
  kind(transitRouters, ENTITY),
  kind(webhooks, { ...ENTITY, lists: 'nobody' }),
]

/** Every kind of record that a controller keeps. */
export const RESOURCES: readonly Resource[] = KINDS.map(([resource]) => resource)

const TRAITS: ReadonlyMap<string, KindTraits> = new Map(KINDS.map(([{ name }, traits]) => [name, traits]))
/** Another process may have a later version: an unknown kind may concern any identity. */
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

/** The permission whose holders may read the entities of a kind; undefined if only administrators may. */
export function readerOfKind(kind: string): string | undefined {
  return READERS.get(kind)
}

/** Reports whether a change of a kind needs the former record. */
export function needsBefore(kind: string): boolean {
  const { before, audit } = traitsOf(kind)
  return before || audit !== 'none'
}

function kind(resource: Resource, traits: KindTraits): readonly [Resource, KindTraits] {
  return [resource, traits]
}

/** The resource with a name; an unknown name is a programming error. */
export function resourceNamed(name: string): Resource {
  const resource = RESOURCES.find((candidate) => candidate.name === name)
  if (resource === undefined) throw new Error(`no resource is named ${name}`)
  return resource
}

/**
 * Every kind of record that a controller keeps, as a storage needs it: fields, unique fields, fields to index.
 *
 * @example
 * for (const kind of RECORD_KINDS) await createTable(kind.name, kind.fields)
 */
export const RECORD_KINDS: readonly RecordKind[] = RESOURCES
