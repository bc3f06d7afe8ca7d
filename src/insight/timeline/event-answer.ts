import type { TimelineEvent } from '../../resources/access/timeline-answer.ts'

type Told = Omit<TimelineEvent, 'text'>

const SENTENCES: Readonly<Record<string, (event: Told) => string>> = {
  'entity.changed': ({ facts, author }) =>
    `${nameOf(author) ?? 'the controller'} ${DONE[String(facts.operation)] ?? 'changed'} one of the ${String(facts.kind).replaceAll('-', ' ')}`,
  'authentication.attempted': ({ identity, facts }) =>
    `${nameOf(identity) ?? 'somebody'} ${facts.success === true ? 'logged in' : 'failed to log in'} by ${facts.method}`,
  'service.refused': ({ identity, service, facts }) =>
    `${who(identity)} was refused ${facts.access} of ${what(service)}`,
  'api-session.started': ({ identity }) => `an API session of ${who(identity)} began`,
  'api-session.ended': ({ identity, facts }) => `an API session of ${who(identity)} ended: ${facts.reason}`,
  'session.created': ({ identity, service, facts }) =>
    `${who(identity)} got a session to ${facts.access} ${what(service)}`,
  'session.ended': ({ identity, service, facts }) =>
    `a session of ${who(identity)} to ${facts.access} ${what(service)} ended: ${facts.reason}`,
  'enrollment.completed': ({ identity, router }) => `${nameOf(identity) ?? nameOf(router) ?? 'somebody'} enrolled`,
  'posture.changed': ({ identity }) => `an endpoint of ${who(identity)} reported its state`,
  'access.changed': ({ identity, service, facts }) =>
    `${who(identity)} ${facts.change} ${facts.access} of ${what(service)}`,
  'router.connection': ({ router, facts }) =>
    `${nameOf(router) ?? 'a router'} is ${facts.isOnline === true ? 'online' : 'offline'}`,
  'router.refused': ({ router, facts }) => `${nameOf(router) ?? 'a router'} was not let in: ${facts.reason}`,
  'router.misbehaved': ({ router, facts }) => `${nameOf(router) ?? 'a router'} was kept from harm: ${facts.what}`,
  'router.alert': ({ router }) => `${nameOf(router) ?? 'a router'} wants its operator to know something`,
  'link.connection': ({ facts }) => `a link between two routers ${facts.isUp === true ? 'came up' : 'is gone'}`,
  'circuit.opened': ({ identity, service }) => `traffic flows from ${who(identity)} to ${what(service)}`,
  'circuit.moved': ({ identity, service }) =>
    `the traffic from ${who(identity)} to ${what(service)} takes another path`,
  'circuit.closed': ({ identity, service, facts }) =>
    `the traffic from ${who(identity)} to ${what(service)} ended: ${facts.reason}`,
  'circuit.failed': ({ identity, service, facts }) =>
    `no path could be laid from ${who(identity)} to ${what(service)}: ${facts.reason}`,
  'identity.connection': ({ identity, facts }) => `${who(identity)} is ${facts.status}`,
}

const DONE: Readonly<Record<string, string>> = { insert: 'created', update: 'changed', delete: 'deleted' }

/** An event as a sentence. */
export function eventText(event: Told): string {
  return SENTENCES[event.type]?.(event) ?? event.type
}

function who(entity: TimelineEvent['identity']): string {
  return nameOf(entity) ?? 'an identity'
}

function what(entity: TimelineEvent['service']): string {
  return nameOf(entity) ?? 'a service'
}

function nameOf(entity: TimelineEvent['identity']): string | undefined {
  return entity?.name ?? entity?.id
}
