import { ids } from '../../domain/filter/index.ts'
import type { ReadTransaction } from '../../ports/storage.ts'
import type { TimelineEvent } from '../../resources/access/timeline-answer.ts'
import type { Resource } from '../../resources/declaration/resource.ts'
import { identities } from '../../resources/identities/identities.ts'
import { edgeRouters } from '../../resources/routers/edge-routers.ts'
import { services } from '../../resources/services/services.ts'
import type { Call } from '../context/call.ts'
import { mayRead } from '../context/readable.ts'
import type { KeptEvent } from './event-log.ts'
import { eventText } from './event-text.ts'

/** The members of events that hold the id of an entity, and what they are called in answers. */
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
  return events.map(({ number, type, at, facts }) => {
    const shown: Partial<Record<Shown, { readonly id: string; readonly name: string | null }>> = {}
    const rest: Record<string, unknown> = {}
    for (const [member, value] of Object.entries(facts)) {
      const entity = ENTITIES.find((one) => one.member === member)
      if (entity === undefined || typeof value !== 'string') rest[member === 'type' ? 'access' : member] = value
      else shown[entity.shown] = { id: value, name: names.get(entity.resource)?.get(value) ?? null }
    }
    const event = { id: idOf(number), type, at: new Date(at).toISOString(), ...shown, facts: rest }
    return { ...event, text: eventText(event) }
  })
}
