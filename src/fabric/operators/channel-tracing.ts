import type { EngineContext } from '../../context/context.ts'
import type { ChannelTrace, TraceChannels, TracesSet } from '../../facts/fabric/messages/index.ts'
import type { ConnectedRouter, ConnectedRouters } from '../channels/connected-routers.ts'

/** Milliseconds within which routers say which of their channels they trace. */
const ANSWER_MS = 5000

interface Pending {
  readonly router: ConnectedRouter
  readonly settle: (answer: Pick<TracesSet, 'success' | 'message'>) => void
}

/** Has routers report the messages of their channels, and sends them to operators that trace them. */
export class ChannelTracing {
  readonly #context: EngineContext
  readonly #routers: ConnectedRouters
  readonly #pending = new Map<string, Pending>()
  readonly #listeners = new Set<(trace: ChannelTrace) => void>()

  constructor(context: EngineContext, routers: ConnectedRouters) {
    this.#context = context
    this.#routers = routers
    context.timetable.onDue('tracing', async (ids) => {
      for (const id of ids) this.#settle(id, undefined)
    })
  }

  /** Asks every router; each judges by the pattern whether it is meant. Routers that do not answer within 5 s are named. */
  async set(
    request: Omit<TraceChannels, 'type' | 'id'>,
  ): Promise<{ readonly success: boolean; readonly message: string }> {
    const answers = await Promise.all(this.#routers.all().map((router) => this.#ask(router, request)))
    return {
      success: answers.every(({ success }) => success),
      message: answers.map(({ message }) => message).join(''),
    }
  }

  /** Reports the messages on traced channels from now on; answers a function that ends the reports. */
  subscribe(tell: (trace: ChannelTrace) => void): () => void {
    this.#listeners.add(tell)
    return () => void this.#listeners.delete(tell)
  }

  /** A router says which of its channels it traces; the answer is ignored unless this router was asked. */
  answered(router: ConnectedRouter, answer: TracesSet): void {
    if (this.#pending.get(answer.id)?.router.id === router.id) this.#settle(answer.id, answer)
  }

  /** A router tells a message that passed. */
  saw(trace: ChannelTrace): void {
    for (const tell of this.#listeners) tell(trace)
  }

  #ask(
    router: ConnectedRouter,
    request: Omit<TraceChannels, 'type' | 'id'>,
  ): Promise<Pick<TracesSet, 'success' | 'message'>> {
    const { clock, random, timetable } = this.#context
    const id = random.uuid()
    return new Promise((settle) => {
      this.#pending.set(id, { router, settle })
      timetable.set('tracing', id, clock.now() + ANSWER_MS)
      router.channel.send({ type: 'trace-channels', id, ...request })
    })
  }

  #settle(id: string, answer: TracesSet | undefined): void {
    const pending = this.#pending.get(id)
    if (pending === undefined) return
    this.#pending.delete(id)
    this.#context.timetable.set('tracing', id, undefined)
    const late = { success: false, message: `router ${pending.router.id} did not answer within 5 s\n` }
    pending.settle(answer ?? late)
  }
}
