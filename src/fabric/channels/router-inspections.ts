import type { EngineContext } from '../../context/context.ts'
import type { Inspected } from '../../facts/fabric/messages/index.ts'
import type { ConnectedRouter } from './connected-routers.ts'

interface Pending {
  readonly router: ConnectedRouter
  readonly settle: (answer: RouterAnswer) => void
}

type RouterAnswer = Pick<Inspected, 'errors' | 'values'>

/** Milliseconds within which a router answers. */
const ANSWER_MS = 10_000

/** Asks connected routers for values of their state. */
export class RouterInspections {
  readonly #context: EngineContext
  readonly #pending = new Map<string, Pending>()

  constructor(context: EngineContext) {
    this.#context = context
    context.timetable.onDue('inspection', async (ids) => {
      for (const id of ids) this.#settle(id, failed('the router did not answer within 10 s'))
    })
  }

  /** Asks one router. A failure, or silence for 10 s, becomes an error of the answer. */
  ask(router: ConnectedRouter, values: readonly string[]): Promise<RouterAnswer> {
    const { random, timetable, clock } = this.#context
    const id = random.uuid()
    return new Promise((settle) => {
      this.#pending.set(id, { router, settle })
      timetable.set('inspection', id, clock.now() + ANSWER_MS)
      router.channel.send({ type: 'inspect', id, values })
    })
  }

  /** A router answered; the answer is ignored unless this router was asked. */
  answered(router: ConnectedRouter, { id, errors, values }: Inspected): void {
    if (this.#pending.get(id)?.router === router) this.#settle(id, { errors, values })
  }

  /** A router is gone. */
  forget(router: ConnectedRouter): void {
    for (const [id, pending] of [...this.#pending]) {
      if (pending.router === router) this.#settle(id, failed('the router disconnected'))
    }
  }

  #settle(id: string, answer: RouterAnswer): void {
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    this.#context.timetable.set('inspection', id, undefined)
    pending?.settle(answer)
  }
}

function failed(error: string): RouterAnswer {
  return { errors: [error], values: [] }
}
