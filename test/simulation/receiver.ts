import type { EventMessage } from 'portcullis'
import type { Choices } from './choices.ts'

/** How a receiver treats its next events. */
export type Mood = 'refuses' | 'lies' | 'hangs'

/** Attempts of one event that fail at most: the pauses before more of them are longer than a run. */
const MOST_FAILURES = 2

/** Gets the events of the network, and notes those that it took. */
export class Receiver {
  /** The events in the order in which they were taken, repeated ones too. */
  readonly taken: { readonly id: string; readonly subject: string }[] = []
  mood: Mood | undefined
  readonly #failures = new Map<string, number>()

  async take({ data }: EventMessage): Promise<void> {
    const { id } = data
    const failures = this.#failures.get(id) ?? 0
    const mood = failures < MOST_FAILURES ? this.mood : undefined
    if (mood !== undefined) this.#failures.set(id, failures + 1)
    if (mood === 'hangs') return new Promise(() => undefined)
    if (mood === 'refuses') throw new Error('the receiver refuses')
    const { entity, actor } = data
    // Events of no entity are in order for their actor; those of neither, such as refused logins of strangers, have no order.
    const of = entity ?? (actor && { kind: 'identities', id: actor.id })
    const subject = of === null ? data.id : `${of.kind} ${of.id}`
    this.taken.push({ id: data.id, subject })
    if (mood === 'lies') throw new Error('the receiver took it, and says that it did not')
  }

  /** The attempts of an event that failed. */
  failuresOf(id: string): number {
    return this.#failures.get(id) ?? 0
  }

  changeMood(choices: Choices): Mood {
    const mood = choices.pick(['refuses', 'lies', 'hangs'] as const) ?? 'refuses'
    this.mood = mood
    return mood
  }
}
