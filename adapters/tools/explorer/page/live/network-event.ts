import type { AnswerOf, PortcullisApi } from '../../../../../src/client/index.ts'

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
