import type { EngineContext } from '../../kernel/context/context.ts'
import type { ControllerEvents, EventName } from '../../ports/events.ts'
import { FORMS } from './event-forms.ts'

/** Kinds of events that are wanted, and their options as they were sent. */
export type EventTypes = ReadonlyMap<string, Readonly<Record<string, unknown>>>

/** An event as deployed controllers write it. */
export interface DeployedEvent {
  readonly namespace: string
  readonly event_src_id: string
  /** RFC 3339. */
  readonly timestamp: string
  readonly [member: string]: unknown
}

/** Names of kinds before they were shortened. */
const FORMER_NAMES: Readonly<Record<string, string>> = {
  'edge.apiSessions': 'apiSession',
  'edge.sessions': 'session',
  'edge.entityCounts': 'entityCount',
  'edge.authentications': 'authentication',
  'fabric.routers': 'router',
  'fabric.terminators': 'terminator',
  'fabric.circuits': 'circuit',
  'fabric.links': 'link',
  'fabric.usage': 'usage',
  services: 'service',
}
/** Kinds that deployed controllers tell of and this one does not. */
const SILENT = ['cluster', 'connect', 'entityCount', 'metrics'] as const

/** Tells events in the form of deployed controllers. */
export class DeployedEvents {
  readonly #context: Pick<EngineContext, 'events' | 'random'>
  readonly #sourceId: string

  constructor(context: Pick<EngineContext, 'events' | 'random'>, sourceId: string) {
    this.#context = context
    this.#sourceId = sourceId
  }

  /** Says which of the kinds there is not; undefined where there are all. */
  problemOf(types: EventTypes): string | undefined {
    const known = new Set<string>([...Object.keys(FORMS), ...SILENT])
    const unknown = [...types.keys()].find((type) => !known.has(nameOf(type)))
    return unknown === undefined ? undefined : `invalid event type: ${unknown}`
  }

  /** The kinds of event that are sent, as deployed controllers call them. */
  static readonly kinds: readonly string[] = Object.keys(FORMS)

  /** Sends events of the kinds from now on, until the function that is answered is called. */
  subscribe(types: EventTypes, tell: (event: DeployedEvent) => void): () => void {
    const cancels = [...types].flatMap(([type, options]) => {
      const namespace = nameOf(type)
      const forms = FORMS[namespace] ?? {}
      return Object.entries(forms).map(([name, form]) => {
        const write = form as (event: unknown, options: unknown, newId: () => string) => readonly object[]
        return this.#context.events.on(name as EventName, (event: ControllerEvents[EventName]) => {
          for (const members of write(event, options, () => this.#context.random.uuid())) {
            const timestamp = new Date(event.at).toISOString()
            tell({ namespace, event_src_id: this.#sourceId, timestamp, ...members })
          }
        })
      })
    })
    return () => {
      for (const cancel of cancels) cancel()
    }
  }
}

function nameOf(type: string): string {
  return FORMER_NAMES[type] ?? type
}
