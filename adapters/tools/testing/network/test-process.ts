import type { Controller, ControllerFetch, Scheduler, Storage } from '../../../../src/index.ts'
import type { JoinableStorage, JoinWrite } from '../../../../src/storage.ts'
import { ConnectionDropped } from '../faults.ts'

/** The ports of a controller that its process lends: none has an effect once the process is killed. */
export interface ProcessPorts {
  readonly storage: Storage | JoinableStorage
  readonly scheduler: Scheduler
  /** How many starts there were before this one, of all controllers. */
  readonly startsBefore: number
}

/** A controller of a test that runs. */
export interface RunningProcess {
  readonly name: string
  readonly controller: Controller
  /** Requests that a kill leaves without an answer reject. */
  readonly fetch: ControllerFetch
  readonly isAlive: boolean
}

/** One run of a controller. */
export class TestProcess implements RunningProcess {
  readonly name: string
  /** Ends timers, requests and transactions at a kill. */
  readonly #ends = new Set<() => void>()
  #controller: Controller | undefined
  isAlive = true
  fetch: ControllerFetch = async () => Promise.reject(new ConnectionDropped())

  constructor(name: string) {
    this.name = name
  }

  get controller(): Controller {
    if (this.#controller === undefined) throw new Error(`${this.name} does not run`)
    return this.#controller
  }

  begin(controller: Controller, around: (fetch: ControllerFetch) => ControllerFetch): void {
    this.#controller = controller
    this.fetch = around(async (request, connection) => {
      if (!this.isAlive) throw new ConnectionDropped()
      return this.#untilKilled(controller.fetch(request, connection))
    })
  }

  kill(): void {
    this.isAlive = false
    for (const end of [...this.#ends]) end()
    this.#ends.clear()
  }

  /** The outcome of work. Rejects at a kill. */
  #untilKilled<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const drop = () => reject(new ConnectionDropped())
      this.#ends.add(drop)
      const settled = () => this.#ends.delete(drop)
      work.then(resolve, reject).finally(settled)
    })
  }

  /** Timers that end with the process, and work that nobody waits for after its end. */
  scheduler(scheduler: Scheduler): Scheduler {
    return {
      at: (instant, work) => {
        if (!this.isAlive) return () => undefined
        const cancelTimer = scheduler.at(instant, async () => {
          this.#ends.delete(cancel)
          await this.#untilKilled(work()).catch(() => undefined)
        })
        const cancel = () => {
          this.#ends.delete(cancel)
          cancelTimer()
        }
        this.#ends.add(cancel)
        return cancel
      },
    }
  }

  /** The storage as long as the process lives: a transaction that it had open is undone, and no answer reaches it any more. */
  storage(shared: Storage | JoinableStorage): Storage | JoinableStorage {
    const alive = async <T>(work: () => Promise<T>): Promise<T> => {
      if (!this.isAlive) return new Promise<never>(() => undefined)
      try {
        const answer = await work()
        return this.isAlive ? answer : new Promise<never>(() => undefined)
      } catch (error) {
        return this.isAlive ? Promise.reject(error) : new Promise<never>(() => undefined)
      }
    }
    return {
      ...(shared.isVolatile && { isVolatile: true }),
      read: (work, options) => alive(() => shared.read(work, options)),
      write: (work) =>
        alive(() =>
          shared.write(async (tx) => {
            const done = await this.#untilKilled(work(tx))
            if (!this.isAlive) throw new ConnectionDropped()
            return done
          }),
        ),
      // The other controllers go on with it.
      close: async () => undefined,
      ...('joinedBy' in shared && { joinedBy: (join: JoinWrite) => shared.joinedBy(join) }),
      ...(shared.snapshot && { snapshot: () => alive(async () => shared.snapshot?.()) }),
    }
  }
}
