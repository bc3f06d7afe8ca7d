import mitt from 'mitt'
import { checkArgument, didYouMean, requireInRange } from '../base/arguments.ts'
import { errorText } from '../base/errors.ts'
import { DAY_MS, HOUR_MS } from '../base/time.ts'
import { callIsolated } from '../concurrency/call-isolated.ts'
import { type ControllerEvents, EVENT_NAMES, type Events } from '../facts/network/events.ts'
import {
  DIRECTORY_ANSWER_MS,
  DirectoryAnswer,
  type HostDirectory,
  ReportedChange,
  readPerson,
} from '../facts/network/host-directory.ts'
import {
  type AskedDirectory,
  GRANT_RULE_MS,
  type GrantDecision,
  type HostHooks,
  type HostRules,
} from '../facts/network/host-rules.ts'
import type { Clock, Logger, Scheduler } from '../ports/runtime.ts'

/**
 * Events within this process. Listeners run one after the other. The failure of a listener is logged and does not affect other listeners.
 * `before` is called before each event.
 */
export function createEvents(logger: Logger, before: () => void): Events {
  // mitt's types describe its CommonJS form, where the function is a member; at run time the default import is the function.
  const createEmitter = mitt as unknown as typeof mitt.default
  const emitter = createEmitter<{ [E in keyof ControllerEvents]: ControllerEvents[E] }>()
  return {
    emit: (name, event) => {
      before()
      emitter.emit(name, event)
    },
    on: (name, listener) => {
      if (!EVENT_NAMES.includes(name))
        throw new TypeError(`events.on: there is no event '${name}'${didYouMean(name, EVENT_NAMES)}`)
      checkArgument('events.on', 'listener', listener, { shape: 'function', isNeeded: true })
      const failed = (error: unknown) => {
        logger.error('an event listener failed', { event: name, error: errorText(error) })
      }
      const isolated: typeof listener = (event) => callIsolated(() => listener(event), failed)
      emitter.on(name, isolated)
      return () => emitter.off(name, isolated)
    },
  }
}

interface HostPorts {
  readonly logger: Logger
  readonly clock: Clock
  readonly scheduler: Scheduler
}

/** Settles as a promise of the host does; rejects once it took longer than `ms`. */
async function within<T>(ms: number, { clock, scheduler }: HostPorts, answer: Promise<T> | T): Promise<T> {
  let cancel = () => {}
  const late = new Promise<never>((_resolve, reject) => {
    cancel = scheduler.at(clock.now() + ms, async () => reject(new Error(`it took longer than ${ms} ms`)))
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    cancel()
  }
}

/** Asks the directory of the host. An answer that is late or invalid counts as none. */
function askedDirectory(directory: HostDirectory, ports: HostPorts): AskedDirectory {
  const { logger } = ports
  const { keepForMs = HOUR_MS } = directory
  return {
    answerFor: async ({ id, name, externalId }) => {
      try {
        const given = await within(DIRECTORY_ANSWER_MS, ports, directory.attributesOf({ id, name, externalId }))
        return { answer: DirectoryAnswer.parse(given) }
      } catch (error) {
        const failed = { identity: id, error: errorText(error) }
        logger.error('the directory of the host gave no valid answer: what it said before counts on', failed)
        return undefined
      }
    },
    find: async (wanted) => {
      try {
        return readPerson(wanted, await within(DIRECTORY_ANSWER_MS, ports, directory.find?.(wanted)))
      } catch (error) {
        const failed = { ...wanted, error: errorText(error) }
        logger.error('the directory of the host could not find a person: no identity is made', failed)
        return undefined
      }
    },
    follow: (listener) => {
      let stop: () => void = () => undefined
      const failed = (error: unknown) =>
        logger.error('the directory of the host cannot be followed', { error: errorText(error) })
      callIsolated(() => {
        const told: typeof listener = async (change) => {
          const { success, data, error } = ReportedChange.safeParse(change)
          if (success) await listener(data)
          else logger.error('the directory of the host reported an invalid change', { error: errorText(error) })
        }
        stop = directory.changed?.(told) ?? stop
      }, failed)
      return () => callIsolated(stop, failed)
    },
    underWay: new Map(),
    ofLogins: new Map(),
    leftChanges: new Map(),
    keepForMs: requireInRange('directory.keepForMs', keepForMs, HOUR_MS / 60, 30 * DAY_MS),
  }
}

/** Asks the hooks of the host. A hook that fails counts as a refusal; of an access request it decides nothing. */
export function askedHost(hooks: HostHooks, directory: HostDirectory | undefined, ports: HostPorts): HostRules {
  const { logger } = ports
  const asked = async (
    hook: 'beforeLogin' | 'beforeEnroll',
    ask: () => boolean | Promise<boolean> | undefined,
  ): Promise<boolean> => {
    try {
      return (await ask()) ?? true
    } catch (error) {
      logger.error('a hook of the host failed: what it was asked about is refused', { hook, error: errorText(error) })
      return false
    }
  }
  return {
    admitsLogin: (attempt) => asked('beforeLogin', () => hooks.beforeLogin?.(attempt)),
    admitsEnrollment: (attempt) => asked('beforeEnroll', () => hooks.beforeEnroll?.(attempt)),
    decidesGrant: async (request) => {
      if (hooks.beforeGrant === undefined) return undefined
      try {
        return decisionOf(await within(GRANT_RULE_MS, ports, hooks.beforeGrant(request)))
      } catch (error) {
        const failed = { hook: 'beforeGrant', request: request.requestId, error: errorText(error) }
        logger.error('a hook of the host failed: the access request stays open', failed)
        return undefined
      }
    },
    directory: directory && askedDirectory(directory, ports),
  }
}

/** The answer of a host in one form. Throws a `TypeError` for any other value, which JavaScript may answer. */
function decisionOf(answer: GrantDecision): Exclude<GrantDecision, string> {
  if (answer === undefined) return undefined
  const decided = typeof answer === 'object' ? answer : { decision: answer }
  if (decided?.decision === 'approve' || decided?.decision === 'refuse') return decided
  throw new TypeError("beforeGrant answers 'approve', 'refuse', an object with such a decision, or undefined")
}
