import { MINUTE_MS, SECOND_MS } from '../../base/time.ts'
import type { CircuitFailure, DialFailureCause } from '../../facts/access/explain/service-reach.rules.ts'
import type { ControllerEvents, EventName } from '../../facts/network/events.ts'
import type { EventChoice } from './event-choice.ts'

type Form<E extends EventName> = (
  event: ControllerEvents[E],
  choice: EventChoice,
  newId: () => string,
) => readonly object[]
type Forms = { readonly [E in EventName]?: Form<E> }

const NANOSECONDS = 1_000_000
const MINUTE_SECONDS = 60
const FAILURE_CAUSES: Readonly<Record<CircuitFailure, string>> = {
  'no-terminators': 'NO_TERMINATORS',
  'no-online-terminators': 'NO_ONLINE_TERMINATORS',
  'no-terminators-here': 'NO_ONLINE_TERMINATORS',
  'no-path': 'NO_PATH',
  'routers-failed': 'ROUTER_ERR_GENERIC',
  refused: 'ROUTER_ERR_GENERIC',
}
/** A router that did not answer or went away counts as a timeout. */
const ROUTER_CAUSES: Readonly<Record<DialFailureCause, string>> = {
  generic: 'ROUTER_ERR_GENERIC',
  'invalid-terminator': 'ROUTER_ERR_INVALID_TERMINATOR',
  'misconfigured-terminator': 'ROUTER_ERR_MISCONFIGURED_TERMINATOR',
  'dial-timed-out': 'ROUTER_ERR_DIAL_TIMED_OUT',
  'connection-refused': 'ROUTER_ERR_CONN_REFUSED',
  'rejected-by-application': 'ROUTER_ERR_REJECTED_BY_APPLICATION',
  'dns-failure': 'ROUTER_ERR_DNS_RESOLUTION_FAILED',
  'port-not-allowed': 'ROUTER_ERR_PORT_NOT_ALLOWED',
  'invalid-link': 'ROUTER_ERR_INVALID_LINK_DESTINATION',
  'no-resources': 'ROUTER_ERR_RESOURCES_NOT_AVAILABLE',
  'no-answer': 'ROUTER_RESPONSE_TIMEOUT',
  disconnected: 'ROUTER_RESPONSE_TIMEOUT',
}
const OPERATIONS = { insert: 'created', update: 'updated', delete: 'deleted' } as const

/** The empty path of a circuit that was not laid. */
const NO_WAY = { terminatorId: '', hostId: '', instanceId: '', links: [], ingressId: '', egressId: '', cost: 0 }

/** The forms of events at deployed controllers, by namespace and event; an event may have several forms, or none. */
export const FORMS: Readonly<Record<string, Forms>> = {
  circuit: {
    'circuit.opened': ({ tookMs, ...event }) => [
      { ...circuit('created', event), creation_timespan: tookMs * NANOSECONDS, path_cost: event.cost },
    ],
    'circuit.moved': (event) => [
      { ...circuit('pathUpdated', event), duration: (event.at - event.openedAt) * NANOSECONDS },
    ],
    'circuit.closed': (event) => [
      { ...circuit('deleted', event), duration: (event.at - event.openedAt) * NANOSECONDS },
    ],
    'circuit.failed': ({ routerId, reason, cause, tookMs, ...facts }) => [
      {
        // The circuit has no routers before its path is found.
        ...circuit('failed', { ...facts, ...NO_WAY, path: reason === 'routers-failed' ? [routerId] : [] }),
        tags: { clientId: facts.identityId, serviceId: facts.serviceId },
        creation_timespan: tookMs * NANOSECONDS,
        failure_cause: cause === undefined ? FAILURE_CAUSES[reason] : ROUTER_CAUSES[cause],
      },
    ],
  },
  // Deployed controllers count the dials of a minute; here each dial is an event of its own, with the count 1.
  service: {
    'circuit.opened': ({ at, serviceId, terminatorId }) => [dial('service.dial.success', at, serviceId, terminatorId)],
    'circuit.failed': ({ at, serviceId, reason }) => [
      dial(reason === 'routers-failed' ? 'service.dial.fail' : 'service.dial.error_other', at, serviceId, ''),
    ],
  },
  terminator: {
    'terminator.changed': ({ operation, terminatorId, serviceId, routerId, hostId, instanceId, precedence, cost }) => [
      {
        event_type: OPERATIONS[operation],
        service_id: serviceId,
        terminator_id: terminatorId,
        router_id: routerId,
        host_id: hostId,
        instance_id: instanceId,
        precedence,
        static_cost: cost,
      },
    ],
  },
  link: {
    'link.connection': ({ linkId, source, target, protocol, dialAddress, staticCost, connections, isUp }) => [
      {
        event_type: isUp ? 'routerLinkNew' : 'fault',
        link_id: linkId,
        src_router_id: source,
        dst_router_id: target,
        protocol,
        dial_address: dialAddress,
        cost: staticCost,
        connections: connections.map(({ type, ...ends }) => {
          return { id: type, local_addr: ends.source, remote_addr: ends.target }
        }),
      },
    ],
  },
  router: {
    'router.connection': ({ routerId, isOnline }) => [
      {
        event_type: isOnline ? 'router-online' : 'router-offline',
        router_id: routerId,
        router_online: isOnline,
      },
    ],
  },
  sdk: {
    'identity.connection': ({ identityId, status }) => [
      { event_type: status === 'unknown' ? 'sdk-status-unknown' : `sdk-${status}`, identity_id: identityId },
    ],
  },
  usage: { 'circuit.usage': usage },
  alert: {
    'router.alert': ({ routerId, severity, message, details }) => [
      {
        alert_source_type: 'router',
        alert_source_id: routerId,
        severity,
        message,
        details,
        related_entities: { router: routerId },
      },
    ],
  },
  apiSession: {
    'api-session.started': (event) => [apiSession('created', event, event.ipAddress)],
    'api-session.refreshed': (event) => [apiSession('refreshed', event, '')],
    'api-session.ended': (event) => [apiSession('deleted', event, '')],
  },
  session: {
    'session.created': (event) => [session('created', 'legacy', event)],
    'session.ended': (event) => [session('deleted', 'legacy', event)],
    'service-token.issued': (event) => [session('created', 'jwt', event)],
  },
  authentication: {
    'authentication.attempted': ({ success, method, identityId = '', remoteAddress = '', reason = '' }) => [
      {
        event_type: success ? 'success' : 'fail',
        type: method === 'password' ? 'updb' : method,
        authenticator_id: '',
        external_jwt_signer_id: '',
        identity_id: identityId,
        auth_policy_id: '',
        remote_address: remoteAddress,
        success,
        reason,
        improper_client_cert_chain: false,
      },
    ],
  },
  entityChange: {
    // Deployed controllers send a change and its commit, which names the event alone; here nothing is sent before the commit.
    'entity.changed': ({ operation, kind, id, author }, { includes }, newId) => {
      const entityType = entityTypeOf(kind)
      if (!includes(entityType)) return []
      const metadata = {
        author: { type: author === undefined ? 'controller' : 'identity', id: author ?? '', name: '' },
      }
      const eventId = newId()
      return [
        { eventId, eventType: OPERATIONS[operation], metadata, entityType, isParentEvent: false, entityId: id },
        { eventId, eventType: 'committed' },
      ]
    },
  },
}

/** The name that deployed controllers have for the entities of a kind: both kinds of routers have one name there. */
function entityTypeOf(kind: string): string {
  if (kind === 'edge-routers' || kind === 'transit-routers') return 'routers'
  return kind.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
}

/** The members that all events of circuits have. */
function circuit(eventType: string, event: Omit<ControllerEvents['circuit.moved'], 'at' | 'openedAt'>) {
  const { circuitId, identityId, serviceId, terminatorId, hostId, instanceId, path, links, ingressId, egressId } = event
  return {
    version: 2,
    event_type: eventType,
    circuit_id: circuitId,
    client_id: identityId,
    service_id: serviceId,
    terminator_id: terminatorId,
    instance_id: instanceId,
    path: { nodes: listOrNull(path), links: listOrNull(links), ingress_id: ingressId, egress_id: egressId },
    link_count: links.length,
    tags: { clientId: identityId, hostId, serviceId },
  }
}

/** Deployed controllers write an empty list of a path as null. */
function listOrNull(list: readonly string[]): readonly string[] | null {
  return list.length === 0 ? null : list
}

function dial(eventType: string, at: number, serviceId: string, terminatorId: string) {
  const interval_start_utc = Math.floor(at / MINUTE_MS) * MINUTE_SECONDS
  const members = { version: 2, event_type: eventType, terminator_id: terminatorId, service_id: serviceId }
  return { ...members, count: 1, interval_start_utc, interval_length: MINUTE_SECONDS }
}

/** Version 3 reports all directions of an interval together, version 2 each separately. */
function usage(event: ControllerEvents['circuit.usage'], { version, includes }: EventChoice): readonly object[] {
  const { routerId, circuitId, identityId, serviceId, hostId, from, lengthMs, bytes } = event
  const common = {
    version,
    source_id: routerId,
    circuit_id: circuitId,
    interval_start_utc: Math.floor(from / SECOND_MS),
    interval_length: Math.floor(lengthMs / SECOND_MS),
    tags: { clientId: identityId, hostId, serviceId },
  }
  if (version === 2) {
    return Object.entries(bytes).map(([direction, carried]) => {
      return { ...common, event_type: `usage.${direction}`, usage: carried }
    })
  }
  const wanted = Object.entries(bytes).filter(([direction]) => includes(direction))
  return wanted.length === 0 ? [] : [{ ...common, usage: Object.fromEntries(wanted) }]
}

/** The token is left out: a reader could use it. */
function apiSession(
  eventType: string,
  { apiSessionId: id, identityId, isBearer }: Omit<ControllerEvents['api-session.refreshed'], 'at'>,
  ipAddress: string,
) {
  const type = isBearer ? 'jwt' : 'legacy'
  const members = { event_type: eventType, id, type, token: '', identity_id: identityId }
  return { ...members, ip_address: ipAddress, cert_generated: false }
}

function session(
  eventType: string,
  provider: 'legacy' | 'jwt',
  { sessionId, apiSessionId, identityId, serviceId, type }: ControllerEvents['session.created'],
) {
  return {
    event_type: eventType,
    session_type: type,
    provider,
    id: sessionId,
    api_session_id: apiSessionId,
    identity_id: identityId,
    service_id: serviceId,
  }
}
