/** Bytes of one circuit that are kept, and of all circuits together: what is beyond is dropped, as on a way that is full. */
const MOST_BYTES_OF_A_CIRCUIT = 1_048_576
const MOST_BYTES = 67_108_864
/** Bytes that a message costs beside its own. */
const MESSAGE_COST = 256
/** Milliseconds for which messages are kept: controllers lay a circuit within this time, or not at all. */
const KEPT_MS = 30_000

/** A message of a circuit, and the address that it came from. */
export interface EarlyMessage<Message> {
  readonly source: string
  readonly message: Message
}

interface Expected<Message> {
  readonly until: number
  readonly messages: EarlyMessage<Message>[]
  bytes: number
}

/**
 * Messages of circuits that came before their destination was there: a host may write, and leave, right behind its answer to a dial.
 * They are kept for circuits that are expected alone, within bounds. Times are ms of any clock that only goes forward.
 */
export class EarlyMessages<Message> {
  readonly #expected = new Map<string, Expected<Message>>()
  #bytes = 0

  /** Messages of a circuit are kept from now on. */
  expect(circuitId: string, now: number): void {
    if (!this.#expected.has(circuitId)) this.#expected.set(circuitId, { until: now + KEPT_MS, messages: [], bytes: 0 })
  }

  /** Keeps a message; false where its circuit is not expected, or has no room. */
  keep(circuitId: string, early: EarlyMessage<Message>, length: number): boolean {
    const circuit = this.#expected.get(circuitId)
    const bytes = length + MESSAGE_COST
    if (circuit === undefined || circuit.bytes + bytes > MOST_BYTES_OF_A_CIRCUIT) return false
    if (this.#bytes + bytes > MOST_BYTES) return false
    circuit.messages.push(early)
    circuit.bytes += bytes
    this.#bytes += bytes
    return true
  }

  /** Answers what was kept of a circuit, in the order in which it came, and keeps nothing more of it. */
  take(circuitId: string): readonly EarlyMessage<Message>[] {
    const circuit = this.#expected.get(circuitId)
    if (circuit === undefined) return []
    this.#expected.delete(circuitId)
    this.#bytes -= circuit.bytes
    return circuit.messages
  }

  /** Forgets what was kept for too long. */
  forgetOld(now: number): void {
    for (const [circuitId, { until }] of this.#expected) {
      if (now < until) return
      this.take(circuitId)
    }
  }
}
