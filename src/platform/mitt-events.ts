import mitt from 'mitt'
import type { ControllerEvents, Events } from '../ports/events.ts'
import type { Logger } from '../ports/logger.ts'

/** Events within this process. Listeners run one after the other; one that throws is logged and disturbs nobody. */
export function createEvents(logger: Logger): Events {
  // mitt's types describe its CommonJS form, where the function is a member; at run time the default import is the function.
  const createEmitter = mitt as unknown as typeof mitt.default
  const emitter = createEmitter<{ [E in keyof ControllerEvents]: ControllerEvents[E] }>()
  return {
    emit: (name, event) => emitter.emit(name, event),
    on: (name, listener) => {
      const isolated: typeof listener = (event) => {
        try {
          listener(event)
        } catch (error) {
          logger.error('an event listener failed', { event: name, error: String(error) })
        }
      }
      emitter.on(name, isolated)
      return () => emitter.off(name, isolated)
    },
  }
}
