import { quoted, visibleLine } from '../../base/text.ts'
import { type Call, mayRead } from '../../context/call.ts'
import { identities } from '../../facts/identities/identity.resource.ts'
import type { TimelineEvent } from '../../facts/insight/timeline.resource.ts'
import { RESOURCES } from '../../facts/resources/index.ts'
import { edgeRouters } from '../../facts/routers/edge-router.resource.ts'
import { services } from '../../facts/services/service.resource.ts'
import type { Resource } from '../../kernel/declaration/resource.ts'
import { ids } from '../../kernel/filter/index.ts'
import type { ReadTransaction } from '../../ports/record-storage.ts'
import type { KeptEvent } from './event-log.ts'

/** The members of events that hold the id of an entity, and their names in answers. */
const ENTITIES: readonly { readonly member: string; readonly shown: Shown; readonly resource: Resource }[] = [
  { member: 'identityId', shown: 'identity', resource: identities },
  { member: 'serviceId', shown: 'service', resource: services },
  { member: 'routerId', shown: 'router', resource: edgeRouters },
  { member: 'edgeRouterId', shown: 'router', resource: edgeRouters },
  { member: 'author', shown: 'author', resource: identities },
]
const NAMED: readonly Resource[] = [identities, services, edgeRouters]
type Shown = 'identity' | 'service' | 'router' | 'author'

/** Events as a caller may read them: with the names of the entities of the kinds that it may read. */
export async function eventAnswers(
  tx: ReadTransaction,
  call: Call,
  events: readonly KeptEvent[],
  idOf: (number: number) => string,
): Promise<readonly TimelineEvent[]> {
  const names = new Map<Resource, ReadonlyMap<string, string>>()
  for (const resource of NAMED) {
    const wanted = events.flatMap(({ facts }) =>
      ENTITIES.flatMap((entity) => {
        const id = entity.resource === resource ? facts[entity.member] : undefined
        return typeof id === 'string' ? [id] : []
      }),
    )
    const mayName = wanted.length > 0 && mayRead(call, resource.definition.permission)
    const { items } = mayName ? await tx.collection(resource).find({ where: ids(new Set(wanted)) }) : { items: [] }
    names.set(resource, new Map(items.map(({ id, name }) => [id, String(name)])))
  }
  const changed = await changedEntities(tx, call, events)
  return events.map(({ number, type, at, facts }) => {
    const shown: Partial<Record<Shown, { readonly id: string; readonly name: string | null }>> = {}
    const rest: Record<string, unknown> = {}
    for (const [member, value] of Object.entries(facts)) {
      const entity = ENTITIES.find((one) => one.member === member)
      if (entity === undefined || typeof value !== 'string') rest[member === 'type' ? 'access' : member] = value
      else shown[entity.shown] = { id: value, name: names.get(entity.resource)?.get(value) ?? null }
    }
    const entity = type === 'entity.changed' ? changed(String(facts.kind), String(facts.id)) : undefined
    const about = { ...shown, ...(entity && { entity }) }
    const event = { id: idOf(number), type, at: new Date(at).toISOString(), ...about, facts: rest }
    return { ...event, text: eventText(event) }
  })
}

type NameOf = (kind: string, id: string) => NonNullable<TimelineEvent['entity']>

/** Finds the names of changed entities, of the kinds that the caller may read; a deleted entity has none. */
async function changedEntities(tx: ReadTransaction, call: Call, events: readonly KeptEvent[]): Promise<NameOf> {
  const idsOf = new Map<string, Set<string>>()
  for (const { type, facts } of events) {
    if (type !== 'entity.changed') continue
    const wanted = idsOf.get(String(facts.kind)) ?? new Set()
    idsOf.set(String(facts.kind), wanted.add(String(facts.id)))
  }
  const names = new Map<string, string>()
  for (const [kind, wanted] of idsOf) {
    const resource = RESOURCES.find(({ name }) => name === kind)
    if (resource === undefined || !('name' in resource.fields) || !mayRead(call, resource.definition.permission))
      continue
    const { items } = await tx.collection(resource).find({ where: ids(wanted) })
    for (const { id, ...record } of items) names.set(`${kind} ${id}`, String(Reflect.get(record, 'name')))
  }
  return (kind, id) => ({ id, name: names.get(`${kind} ${id}`) ?? null })
}

type EventFacts = Omit<TimelineEvent, 'text'>

const SENTENCES: Readonly<Record<string, (event: EventFacts) => string>> = {
  'entity.changed': ({ facts, author, entity }) =>
    `${nameOf(author) ?? 'the controller'} ${DONE[String(facts.operation)] ?? 'changed'} ${singular(String(facts.kind))} ${nameOf(entity) ?? ''}`.trimEnd(),
  'authentication.attempted': ({ identity, facts }) =>
    `${nameOf(identity) ?? 'somebody'} ${facts.success === true ? 'logged in' : 'failed to log in'} by ${facts.method}`,
  'service.refused': ({ identity, service, facts }) =>
    `${who(identity)} was refused ${facts.access} of ${what(service)}`,
  'access-request.made': ({ identity, facts }) =>
    `${who(identity)} asks for ${facts.access} of ${quoted(String(facts.service))}`,
  'access-request.decided': ({ identity, facts }) =>
    `the request of ${who(identity)} for ${facts.access} of ${quoted(String(facts.service))} is ${facts.state}`,
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

/** The singular of a kind, in words: `service policy`. */
function singular(kind: string): string {
  const resource = RESOURCES.find(({ name }) => name === kind)
  return (resource?.definition.singular ?? kind).replaceAll('-', ' ')
}

const DONE: Readonly<Record<string, string>> = { insert: 'created', update: 'changed', delete: 'deleted' }

/** An event as a sentence. */
function eventText(event: EventFacts): string {
  return SENTENCES[event.type]?.(event) ?? event.type
}

function who(entity: TimelineEvent['identity']): string {
  return nameOf(entity) ?? 'an identity'
}

function what(entity: TimelineEvent['service']): string {
  return nameOf(entity) ?? 'a service'
}

function nameOf(entity: TimelineEvent['identity']): string | undefined {
  return entity === undefined ? undefined : visibleLine(entity.name ?? entity.id)
}
