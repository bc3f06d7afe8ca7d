import type { Controller, ControllerEvents, EventName } from '../../../src/index.ts'

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
   * when none comes in time.
   *
   * @example
   * const ended = net.events.wait('session.ended')
   * await net.as('laptop').report({ domain: 'elsewhere.example' })
   * expect((await ended).reason).toBe('posture-failed')
   */
  wait<E extends EventName>(name: E, wait?: Wait<E>): Promise<ControllerEvents[E]>
}

const PATIENCE_MS = 5000

/** Lets a test wait for events. */
export function waitingEvents({ on }: Pick<Controller['events'], 'on'>): TestEvents {
  return {
    on,
    wait: (name, { where = () => true, withinMs = PATIENCE_MS } = {}) =>
      new Promise((resolve, reject) => {
        const expired = setTimeout(() => {
          stop()
          reject(new Error(`no event '${name}' came within ${withinMs} ms`))
        }, withinMs)
        const stop = on(name, (event) => {
          if (!where(event)) return
          clearTimeout(expired)
          stop()
          resolve(event)
        })
      }),
  }
}
