import { circuitEnded, type TerminatorUse, UNUSED } from '../../../domain/fabric/index.ts'
import type { Circuit } from './circuit.ts'

/** The circuits that this process laid, and how much their terminators are used. */
export class OpenCircuits {
  readonly #circuits = new Map<string, Circuit>()
  readonly #use = new Map<string, TerminatorUse>()

  get size(): number {
    return this.#circuits.size
  }

  get(id: string): Circuit | undefined {
    return this.#circuits.get(id)
  }

  all(): readonly Circuit[] {
    return [...this.#circuits.values()]
  }

  add(circuit: Circuit): void {
    this.#circuits.set(circuit.id, circuit)
  }

  /** Forgets a circuit; answers whether it was there. */
  remove({ id, terminatorId }: Circuit): boolean {
    const use = this.#use.get(terminatorId)
    if (use !== undefined) this.#use.set(terminatorId, circuitEnded(use))
    return this.#circuits.delete(id)
  }

  useOf(terminatorId: string): TerminatorUse {
    return this.#use.get(terminatorId) ?? UNUSED
  }

  noteUse(terminatorId: string, use: TerminatorUse): void {
    this.#use.set(terminatorId, use)
  }

  /** A terminator is gone, and what is remembered of it. */
  forgetTerminator(terminatorId: string): void {
    this.#use.delete(terminatorId)
  }
}
