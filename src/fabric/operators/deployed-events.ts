import type { EngineContext } from '../../context/context.ts'
import type { ControllerEvents, EventName } from '../../facts/network/events.ts'
import { type EventChoice, isChosen, kindOf, readChoice } from './event-choice.ts'
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

/** Kinds that deployed controllers tell of and this one does not. */
const SILENT = ['cluster', 'connect', 'entityCount', 'metrics'] as const

/** Tells events in the form of deployed controllers. */
export class DeployedEvents {
  readonly #context: EngineContext
  readonly #sourceId: string

  constructor(context: EngineContext, sourceId: string) {
    this.#context = context
    this.#sourceId = sourceId
  }

  /** Names an unknown kind or describes its invalid options; undefined for a valid subscription. */
  problemOf(types: EventTypes): string | undefined {
    const known = new Set<string>([...Object.keys(FORMS), ...SILENT])
    for (const [type, options] of types) {
      if (!known.has(kindOf(type))) return `invalid event type: ${type}`
      const choice = readChoice(type, options)
      if ('problem' in choice) return choice.problem
    }
    return undefined
  }

  /** The kinds of event that are sent, as deployed controllers call them. */
  static readonly kinds: readonly string[] = Object.keys(FORMS)

  /** Sends events of the kinds from now on, until the function that is answered is called. */
  subscribe(types: EventTypes, tell: (event: DeployedEvent) => void): () => void {
    const cancels = [...types].flatMap(([type, options]) => {
      const choice = readChoice(type, options)
      return 'problem' in choice ? [] : this.#tellEach(choice, tell)
    })
    return () => {
      for (const cancel of cancels) cancel()
    }
  }

  #tellEach(choice: EventChoice, tell: (event: DeployedEvent) => void): readonly (() => void)[] {
    const { events, random } = this.#context
    const { kind, namespace } = choice
    return Object.entries(FORMS[kind] ?? {}).map(([name, form]) => {
      const write = form as (event: unknown, choice: EventChoice, newId: () => string) => readonly object[]
      return events.on(name as EventName, (event: ControllerEvents[EventName]) => {
        const timestamp = new Date(event.at).toISOString()
        for (const members of write(event, choice, () => random.uuid())) {
          if (isChosen(choice, members)) tell({ namespace, event_src_id: this.#sourceId, timestamp, ...members })
        }
      })
    })
  }
}
