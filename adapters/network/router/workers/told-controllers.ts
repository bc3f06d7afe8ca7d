import type { FromRouter, ToRouter } from '../../../../src/control-channel.ts'
import type { ConnectedController, ControllerListener, TakesControllers } from '../state/controllers.ts'
import type { Answered, FromWorker, ToldController, ToWorker } from './worker-messages.ts'

/** Questions between a worker and the first process, by their numbers. */
export class Questions<M> {
  readonly #waiting = new Map<number, { resolve(answer: M | undefined): void; reject(reason: Error): void }>()
  #number = 0

  /** Sends a question; resolves with its answer. Rejects when the other process fails to answer. */
  ask(send: (number: number) => void): Promise<M | undefined> {
    this.#number += 1
    const number = this.#number
    return new Promise((resolve, reject) => {
      this.#waiting.set(number, { resolve, reject })
      send(number)
    })
  }

  answered({ number, message, failure }: Answered<M>): void {
    const waiting = this.#waiting.get(number)
    this.#waiting.delete(number)
    if (failure === undefined) waiting?.resolve(message)
    else waiting?.reject(new Error(failure))
  }

  /** No question gets its answer any more. */
  end(reason: string): void {
    for (const { reject } of this.#waiting.values()) reject(new Error(reason))
    this.#waiting.clear()
  }
}

/** Answers a question by work that may fail. */
export async function answerTo<M>(number: number, work: Promise<M | undefined> | undefined): Promise<Answered<M>> {
  try {
    const message = await work
    return { type: 'answer', number, ...(message !== undefined && { message }) }
  } catch (error) {
    return { type: 'answer', number, failure: error instanceof Error ? error.message : String(error) }
  }
}

type Ask = (controllerId: string, message: FromRouter) => Promise<ToRouter | undefined>

/** A controller as a worker has it: questions go by the first process. */
class ControllerByParent implements ConnectedController {
  told: ToldController
  readonly #ask: Ask

  constructor(told: ToldController, ask: Ask) {
    this.told = told
    this.#ask = ask
  }

  get id(): string {
    return this.told.id
  }

  get judgesPosture(): boolean {
    return this.told.judgesPosture
  }

  get takesPosture(): boolean {
    return this.told.takesPosture ?? false
  }

  get isOfOldLine(): boolean {
    return this.told.isOfOldLine ?? false
  }

  get isSilent(): boolean {
    return this.told.isSilent ?? false
  }

  ask(message: FromRouter): Promise<ToRouter | undefined> {
    return this.#ask(this.id, message)
  }
}

/** The controllers of a router at one of its workers. */
export class ToldControllers {
  readonly #router: TakesControllers
  readonly #send: (message: FromWorker) => void
  readonly #questions = new Questions<ToRouter>()
  readonly #known = new Map<
    string,
    { readonly controller: ControllerByParent; readonly listener: ControllerListener }
  >()

  constructor(router: TakesControllers, send: (message: FromWorker) => void) {
    this.#router = router
    this.#send = send
  }

  /** Takes a message about controllers; false for any other message. */
  take(message: ToWorker): boolean {
    switch (message.type) {
      case 'controller':
        this.#told(message.controller)
        return true
      case 'controller-lost':
        this.#known.get(message.id)?.listener.lost()
        this.#known.delete(message.id)
        return true
      case 'ask': {
        // The order of the messages of a controller stays.
        const answer = this.#known.get(message.controllerId)?.listener.take(message.message)
        void answerTo(message.number, answer).then(this.#send)
        return true
      }
      case 'answer':
        this.#questions.answered(message)
        return true
      default:
        return false
    }
  }

  #told(told: ToldController): void {
    const known = this.#known.get(told.id)
    if (known !== undefined) {
      known.controller.told = told
      return
    }
    const ask = (controllerId: string, message: FromRouter) =>
      this.#questions.ask((number) => this.#send({ type: 'ask', number, controllerId, message }))
    const controller = new ControllerByParent(told, ask)
    this.#known.set(told.id, { controller, listener: this.#router.connected(controller) })
  }
}
