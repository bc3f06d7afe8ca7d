import { randomFrom } from '../support/seeded-random.ts'

/** The choices of chance in a run: all of them follow from the seed. */
export class Choices {
  readonly #random: () => number

  constructor(seed: number) {
    this.#random = randomFrom(seed)
  }

  fraction(): number {
    return this.#random()
  }

  /** A whole number from 0 up to `limit`. */
  below(limit: number): number {
    return Math.floor(this.#random() * limit)
  }

  happens(probability: number): boolean {
    return this.#random() < probability
  }

  pick<T>(from: readonly T[]): T | undefined {
    return from[this.below(from.length)]
  }

  bytes(length: number): Uint8Array<ArrayBuffer> {
    return Uint8Array.from({ length }, () => this.below(256))
  }

  uuid(): string {
    const hex = Buffer.from(this.bytes(16)).toString('hex')
    const variant = '89ab'.charAt(this.below(4))
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`
  }
}
