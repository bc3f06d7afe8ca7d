import { StorageUnavailable } from '../../../src/index.ts'

/** Lets so many pieces of work run at once; the others wait in the order in which they came. */
export class Slots {
  readonly #timeoutMs: number
  readonly #waiting: (() => void)[] = []
  #free: number

  constructor(count: number, timeoutMs: number) {
    this.#free = count
    this.#timeoutMs = timeoutMs
  }

  async use<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1
    else await this.#turn()
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free += 1
      else next()
    }
  }

  #turn(): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1)
        reject(new StorageUnavailable('busy', `no connection was free within ${this.#timeoutMs} ms`))
      }, this.#timeoutMs)
      this.#waiting.push(begin)
    })
  }
}
