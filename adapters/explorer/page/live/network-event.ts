/** Something that happened in the network, as the controller tells it. */
export interface NetworkEvent {
  readonly id: string
  /** RFC 3339. */
  readonly at: string
  readonly type: string
  /** One sentence. */
  readonly text: string
  readonly identity?: { readonly id: string; readonly name: string }
  readonly service?: { readonly id: string; readonly name: string }
}

/** What events are about, as people choose among them. */
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
