import type { AnswerOf, PortcullisApi } from '../../../../../src/client/index.ts'
import type { Apis } from '../api/apis.ts'

/** The recent events, as the controller sends them. */
export type Timeline = AnswerOf<PortcullisApi['GET /events']>['data']

/** An event in the network, as the controller sends it. */
export type NetworkEvent = Timeline['events'][number]

/** Topics of events, as people choose among them. */
export const TOPICS = [
  { topic: 'sessions', label: 'Sessions' },
  { topic: 'refused', label: 'Refused' },
  { topic: 'access', label: 'Access' },
  { topic: 'posture', label: 'Posture' },
  { topic: 'routers', label: 'Routers and links' },
  { topic: 'circuits', label: 'Circuits' },
  { topic: 'changes', label: 'Changes' },
] as const

export type Topic = (typeof TOPICS)[number]['topic']

/** The topic of events by the first word of their type, as `circuit` of `circuit.opened`. */
const TOPIC_OF: Readonly<Record<string, Topic>> = {
  authentication: 'sessions',
  'api-session': 'sessions',
  session: 'sessions',
  identity: 'sessions',
  service: 'refused',
  access: 'access',
  'access-request': 'access',
  posture: 'posture',
  router: 'routers',
  link: 'routers',
  circuit: 'circuits',
}

/** Finds the topic of an event. */
export function topicOf({ type }: NetworkEvent): Topic {
  return TOPIC_OF[type.split('.')[0] ?? ''] ?? 'changes'
}

/** Reports whether an event takes a right or a connection away. */
export function isLoss({ type, facts }: NetworkEvent): boolean {
  return type === 'circuit.failed' || type === 'service.refused' || facts.change === 'lost' || facts.isOnline === false
}

/** Kinds of records whose changes other events report in words. */
const BOOKKEEPING = new Set<unknown>(['api-sessions', 'sessions', 'posture-data', 'terminators'])

/** Reports whether an event, a change of a record, repeats another event. */
export function isBookkeeping({ type, facts }: NetworkEvent): boolean {
  return type === 'entity.changed' && BOOKKEEPING.has(facts.kind)
}

/** A text that is equal for events of one actor or identity that differ only in their subjects. */
export function sayingOf({ type, author, identity, facts }: NetworkEvent): string {
  return JSON.stringify([type, author?.id, identity?.id, facts.operation, facts.kind, facts.reason, facts.change])
}

/** Whether an event may have changed an answer of the controller, which then is asked for again. */
export type Concern = (event: NetworkEvent) => boolean

/** Changes of records of any kind. */
export function isChange({ type }: NetworkEvent): boolean {
  return type === 'entity.changed'
}

/** Changes of what a network consists of, its routers coming and going, and access that was gained or lost. */
export function isOfNetwork(event: NetworkEvent): boolean {
  const isShown = isChange(event) && !isBookkeeping(event)
  return isShown || event.type === 'access.changed' || event.type === 'router.connection'
}

/** Changes of routers, links and circuits. */
export function isOfTraffic(event: NetworkEvent): boolean {
  return topicOf(event) === 'routers' || topicOf(event) === 'circuits'
}

/** Changes of the records of some kinds. */
export function isOfKind(...kinds: readonly string[]): Concern {
  return (event) => isChange(event) && kinds.includes(String(event.facts.kind))
}

/** Events about one identity that are not changes: sessions, posture, refusals. */
export function isOfIdentity(id: string | undefined): Concern {
  return ({ identity }) => identity !== undefined && identity.id === id
}

/** API sessions that begin and end. */
export function isOfLogins({ type }: NetworkEvent): boolean {
  return type.startsWith('api-session.')
}

/** For answers that stay as they were asked for. */
export function isOfNothing(): boolean {
  return false
}

/** Events that any of some concerns names. */
export function isOfAny(...concerns: readonly Concern[]): Concern {
  return (event) => concerns.some((concerns) => concerns(event))
}

/** Reads recent events. Rejects when the controller refuses them. */
export async function readTimeline({ portcullis }: Apis, signal: AbortSignal): Promise<Timeline> {
  return (await portcullis.call('GET /events', { query: { limit: '1000' }, signal })).data
}

/** Reads an event of a stream; undefined for any other JSON. */
export function readEvent(text: string): NetworkEvent | undefined {
  const value: unknown = JSON.parse(text)
  // The controller that served the page sends events in one form, in streams and in answers.
  return typeof value === 'object' && value !== null && 'type' in value ? (value as NetworkEvent) : undefined
}
