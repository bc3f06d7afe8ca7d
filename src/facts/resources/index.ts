import type { Resource } from '../../kernel/declaration/resource.ts'
import type { RecordKind } from '../../ports/record-storage.ts'
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
import { enrollments } from '../enrollment/enrollment.resource.ts'
import { identities } from '../identities/identity.resource.ts'
import { apiSessionCertificates, apiSessions } from '../login/api-session.resource.ts'
import { mfas } from '../login/mfa.resource.ts'
import { revocations } from '../login/revocation.resource.ts'
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

/** Facts about a kind of record: whom a change of it may concern. */
export interface KindTraits {
  /** Followers of a write read what a record was before: what was lost, to whom, and whose rights that concerns. */
  readonly before: boolean
  /** A change becomes an event for the host. Otherwise it is bookkeeping of the controller's own. */
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
   * keeps a number of bytes. None of them sees bookkeeping.
   */
  readonly audit: 'operators' | 'endpoints' | 'none'
  /** A change may take from readers of the timeline what they may hear. */
  readonly readers: boolean
}

/** Kinds that operators make and change, as anybody's list of services may show. */
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
  kind(signingKeys, { ...BOOKKEEPING, audit: 'operators' }),
  kind(terminators, { ...OF_ENDPOINTS, before: true }),
  kind(transitRouters, ENTITY),
  kind(webhooks, { ...ENTITY, lists: 'nobody' }),
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
