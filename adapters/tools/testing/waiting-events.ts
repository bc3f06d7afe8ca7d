import { checkOptions, type OptionRules } from '../../../src/base/arguments.ts'
import { type Controller, type ControllerEvents, EVENT_NAMES, type EventName } from '../../../src/index.ts'

/** Which event a test waits for, and for how long. */
export interface Wait<E extends EventName> {
  /** Which events count. Default: every one of the name. */
  readonly where?: (event: ControllerEvents[E]) => boolean
  /** How long it may take, in ms of the computer's own clock. Default: 5 s. */
  readonly withinMs?: number
}

/** The events of a controller, to be waited for as well. */
export interface TestEvents extends Pick<Controller['events'], 'on'> {
  /**
   * Resolves with the next event of a name, from the call on: call it before what causes the event, await it after. Rejects
   * when none comes in time, and tells what came instead, and with what `where` throws.
   *
   * @example
   * const ended = net.events.wait('session.ended')
   * await net.as('laptop').report({ domain: 'elsewhere.example' })
   * expect((await ended).reason).toBe('posture-failed')
   */
  wait<E extends EventName>(name: E, wait?: Wait<E>): Promise<ControllerEvents[E]>
}

const OPTIONS: OptionRules<Wait<EventName>> = { where: 'function', withinMs: 'number' }

const PATIENCE_MS = 5000

/** The most other events that are named where the awaited one did not come. */
const MOST_TOLD = 10

/** Lets a test wait for events. */
export function waitingEvents({ on }: Pick<Controller['events'], 'on'>): TestEvents {
  return {
    on,
    wait: (name, asked = {}) =>
      new Promise((resolve, reject) => {
        checkOptions('events.wait', asked, OPTIONS)
        const { where = () => true, withinMs = PATIENCE_MS } = asked
        const others: string[] = []
        const settle = (done: () => void) => {
          clearTimeout(expired)
          for (const stop of stops) stop()
          done()
        }
        // First of all: a name that no event has throws.
        const stops = [
          on(name, (event) => {
            try {
              if (where(event)) settle(() => resolve(event))
              else others.push(`${name} ${JSON.stringify(event)}`)
            } catch (error) {
              settle(() => reject(error))
            }
          }),
          ...EVENT_NAMES.filter((other) => other !== name).map((other) => on(other, () => others.push(other))),
        ]
        const expire = () => reject(new Error(`no event '${name}' came within ${withinMs} ms${cameInstead(others)}`))
        const expired = setTimeout(() => settle(expire), withinMs)
      }),
  }
}

function cameInstead(others: readonly string[]): string {
  if (others.length === 0) return ', nor any other'
  const counts = new Map<string, number>()
  for (const text of others) counts.set(text, (counts.get(text) ?? 0) + 1)
  const told = [...counts].map(([text, count]) => (count === 1 ? text : `${text} (${count} times)`))
  const more = told.length > MOST_TOLD ? ` and ${told.length - MOST_TOLD} more` : ''
  return `; what came: ${told.slice(0, MOST_TOLD).join(', ')}${more}`
}
