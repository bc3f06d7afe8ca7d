import { logFailure } from '../../context/background-failure.ts'
import type { Call } from '../../context/call.ts'
import type { EngineContext } from '../../context/context.ts'
import { isAdministrator, permits } from '../../facts/authority/authority.rules.ts'
import type { FromOperator, OperatorChannel, OperatorSession, ToOperator } from '../../facts/fabric/messages/index.ts'
import { currentCall } from '../../login/current-call.ts'
import type { Inspections } from '../validations/inspections.ts'
import type { Begun, Validations } from '../validations/validations.ts'
import type { ChannelTracing } from './channel-tracing.ts'
import type { DeployedEvents } from './deployed-events.ts'
import { subscribeFeed } from './event-feeds.ts'

/** The right that every message needs: the channel is for callers that may do everything with the network. */
export const OPERATING = { entity: 'ops', action: 'all' } as const

/** Sessions of one identity: a further one ends the oldest. */
const MOST_OF_ONE = 8
/** Sessions of all identities: a further one ends the oldest. */
const MOST = 64
/** Streams of events and traces of one session: a further one ends the oldest. Every event is written anew for each of them. */
const MOST_STREAMS = 8
/** Validations of one session that run, or wait for those of others. */
const MOST_VALIDATIONS = 8
/** Milliseconds between checks of the rights of connected operators. */
const RIGHTS_LOOK_MS = 1000

/** The parts that sessions hand messages to. */
interface OperatorParts {
  readonly context: EngineContext
  readonly inspections: Inspections
  readonly validations: Validations
  readonly events: DeployedEvents
  readonly tracing: ChannelTracing
}

/** The programs of operators that are connected by a channel, each for as long as its rights last. */
export class OperatorSessions {
  readonly #parts: OperatorParts
  /** The oldest first. */
  readonly #sessions = new Set<ConnectedOperator>()

  constructor(parts: OperatorParts) {
    this.#parts = parts
    const { timetable, events } = parts.context
    timetable.onDue('operator', async () => this.#look())
    events.on('api-session.ended', ({ apiSessionId }) => {
      for (const session of this.#sessions) if (session.apiSessionId === apiSessionId) session.end()
    })
  }

  /** Begins a session of an admitted caller. */
  open(call: Call, channel: OperatorChannel): OperatorSession {
    const { timetable, clock } = this.#parts.context
    const session: ConnectedOperator = new ConnectedOperator(this.#parts, call, channel, () => {
      this.#sessions.delete(session)
    })
    const own = [...this.#sessions].filter(({ identityId }) => identityId === session.identityId)
    if (own.length >= MOST_OF_ONE) own[0]?.end()
    if (this.#sessions.size >= MOST) [...this.#sessions][0]?.end()
    this.#sessions.add(session)
    timetable.notLater('operator', 'look', clock.now() + RIGHTS_LOOK_MS)
    return session
  }

  /** Ends every session. */
  close(): void {
    for (const session of [...this.#sessions]) session.end()
  }

  /** Judges every session again, because a write by any process may have removed a right. */
  async #look(): Promise<void> {
    const { timetable, clock } = this.#parts.context
    if (this.#sessions.size === 0) return
    timetable.set('operator', 'look', clock.now() + RIGHTS_LOOK_MS)
    for (const session of [...this.#sessions]) await session.judge()
  }
}

/** A program of an operator that is connected. */
class ConnectedOperator implements OperatorSession {
  readonly #parts: OperatorParts
  readonly #channel: OperatorChannel
  readonly #onOver: () => void
  #call: Call
  #isOver = false
  /** The functions that end its streams, the oldest first. */
  readonly #streams: (() => void)[] = []
  #validations = 0

  constructor(parts: OperatorParts, call: Call, channel: OperatorChannel, onOver: () => void) {
    this.#parts = parts
    this.#call = call
    this.#channel = channel
    this.#onOver = onOver
  }

  get identityId(): string | undefined {
    return this.#call.by === 'caller' ? this.#call.caller.identity.id : undefined
  }

  get apiSessionId(): string | undefined {
    return this.#call.by === 'caller' ? this.#call.caller.apiSession.id : undefined
  }

  async receive(message: FromOperator): ReturnType<OperatorSession['receive']> {
    if (this.#isOver) return undefined
    try {
      if (!(await this.judge())) return undefined
      return await this.#handle(message)
    } catch (error) {
      logFailure(this.#parts.context.logger, 'a message of an operator could not be handled', error)
      return { reply: { type: 'result', success: false, message: 'the controller failed' } }
    }
  }

  closed(): void {
    if (this.#isOver) return
    this.#isOver = true
    for (const end of this.#streams) end()
    this.#onOver()
  }

  /** Closes the channel. */
  end(): void {
    this.closed()
    this.#channel.close()
  }

  /** Whether the operator may stay connected by its present rights; the channel is closed if not, or if the rights cannot be read. */
  async judge(): Promise<boolean> {
    const current = await currentCall(this.#parts.context, this.#call).catch((error: unknown) => {
      const { identityId } = this
      logFailure(this.#parts.context.logger, 'the rights of an operator could not be read', error, { identityId })
      return undefined
    })
    if (current !== undefined && mayOperate(current)) {
      this.#call = current
      return !this.#isOver
    }
    this.end()
    return false
  }

  async #handle(message: FromOperator): ReturnType<OperatorSession['receive']> {
    const { inspections, validations, events, tracing } = this.#parts
    switch (message.type) {
      case 'inspect':
        return { reply: { type: 'inspected', ...(await inspections.inspect(message)) } }
      case 'stream-events': {
        const subscribed = subscribeFeed(events, message.body, (kind, text) =>
          this.#tell({ type: 'event', kind, text }),
        )
        if ('problem' in subscribed) return { reply: { type: 'result', success: false, message: subscribed.problem } }
        this.#keepStream(subscribed.cancel)
        return { reply: { type: 'result', success: true, message: 'success' }, begin: subscribed.begin }
      }
      case 'validate': {
        if (this.#validations >= MOST_VALIDATIONS) {
          const { what } = message.request
          const problem = `${MOST_VALIDATIONS} validations of this channel are underway`
          return { reply: { type: 'validation-begun', what, count: 0, problem } }
        }
        const { begun, run } = await validations.begin(message.request)
        const begin = () => void this.#validate(run)
        return { reply: begun, begin }
      }
      case 'trace-channels': {
        const { type: _type, ...request } = message
        return { reply: { type: 'result', ...(await tracing.set(request)) } }
      }
      case 'stream-traces': {
        const { only } = message
        const isWanted = (contentType: number) =>
          only === undefined || only.contentTypes.includes(contentType) === only.isIncluding
        this.#keepStream(tracing.subscribe((trace) => isWanted(trace.contentType) && this.#tell(trace)))
        return undefined
      }
      case 'unsupported':
        return {
          reply: { type: 'result', success: false, message: `this controller does not ${message.what}` },
        }
    }
  }

  /** Runs a validation. A failure ends the channel: its program waits for results that do not come. */
  async #validate(run: Begun['run']): Promise<void> {
    this.#validations += 1
    try {
      await run(
        (result) => this.#tell({ type: 'validated', result }),
        () => this.#isOver,
      )
    } catch (error) {
      logFailure(this.#parts.context.logger, 'a validation failed', error)
      this.end()
    } finally {
      this.#validations -= 1
    }
  }

  #keepStream(end: () => void): void {
    this.#streams.push(end)
    if (this.#streams.length > MOST_STREAMS) this.#streams.shift()?.()
  }

  #tell(message: ToOperator): void {
    if (!this.#isOver) this.#channel.send(message)
  }
}

function mayOperate(call: Call): boolean {
  if (call.by !== 'caller') return call.by === 'system'
  const { identity } = call.caller
  return isAdministrator(identity) || permits(identity.permissions, OPERATING)
}
