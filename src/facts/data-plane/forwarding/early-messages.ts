/** Limits of kept messages: further messages are dropped, as on a congested path. */
export interface EarlyLimits {
  /** Bytes of one circuit, from one address and altogether. */
  readonly ofCircuit: number
  readonly ofSource: number
  readonly all: number
  /** Milliseconds for which messages are kept. */
  readonly keptMs: number
}

/** For a circuit that a controller is creating to a host of this router: it exists within 30 s, or never. */
export const EXPECTED_LIMITS: EarlyLimits = {
  ofCircuit: 1_048_576,
  ofSource: 1_048_576,
  all: 67_108_864,
  keptMs: 30_000,
}
/**
 * For a circuit that a controller may be creating over this router: routers have 10 s for their part. A peer that invents circuits takes at
 * most 4 MiB for each of its links, and no room of circuits to a host of this router.
 */
export const UNLAID_LIMITS: EarlyLimits = {
  ofCircuit: 1_048_576,
  ofSource: 4_194_304,
  all: 33_554_432,
  keptMs: 10_000,
}
/** Bytes that a message and a circuit cost in addition to the content. */
const MESSAGE_COST = 256
const CIRCUIT_COST = 512

/** A message of a circuit, and the address that it came from. */
export interface EarlyMessage<Message> {
  readonly source: string
  readonly message: Message
}

interface Kept<Message> {
  readonly until: number
  readonly messages: (EarlyMessage<Message> & { readonly bytes: number })[]
  bytes: number
}

/**
 * Messages of circuits that arrived before their destination existed: a host may write and close right after its answer to a dial, and a
 * link may be faster than a controller. Times are ms of any monotonic clock.
 */
export class EarlyMessages<Message> {
  readonly #limits: EarlyLimits
  /** The oldest first. */
  readonly #circuits = new Map<string, Kept<Message>>()
  readonly #sources = new Map<string, number>()
  #bytes = 0

  constructor(limits: EarlyLimits) {
    this.#limits = limits
  }

  /** Keeps messages of a circuit from now on. */
  expect(circuitId: string, now: number): void {
    if (this.#circuits.has(circuitId)) return
    this.#circuits.set(circuitId, { until: now + this.#limits.keptMs, messages: [], bytes: 0 })
  }

  /** Keeps a message of an expected circuit; false for an unexpected circuit, and without room. */
  keep(circuitId: string, { source, message }: EarlyMessage<Message>, length: number): boolean {
    const circuit = this.#circuits.get(circuitId)
    if (circuit === undefined) return false
    const { ofCircuit, ofSource, all } = this.#limits
    const isFirst = circuit.messages.length === 0
    const bytes = length + MESSAGE_COST + (isFirst ? CIRCUIT_COST : 0)
    const ofThis = (this.#sources.get(source) ?? 0) + bytes
    if (circuit.bytes + bytes > ofCircuit || ofThis > ofSource || this.#bytes + bytes > all) return false
    circuit.messages.push({ source, message, bytes })
    circuit.bytes += bytes
    this.#bytes += bytes
    this.#sources.set(source, ofThis)
    return true
  }

  /** Keeps a message of any circuit; false without room. */
  keepUnexpected(circuitId: string, early: EarlyMessage<Message>, length: number, now: number): boolean {
    const isNew = !this.#circuits.has(circuitId)
    this.expect(circuitId, now)
    const isKept = this.keep(circuitId, early, length)
    if (!isKept && isNew) this.#circuits.delete(circuitId)
    return isKept
  }

  /** Answers the kept messages of a circuit, in the order of arrival, and keeps no further messages of it. */
  take(circuitId: string): readonly EarlyMessage<Message>[] {
    const circuit = this.#circuits.get(circuitId)
    if (circuit === undefined) return []
    this.#circuits.delete(circuitId)
    this.#bytes -= circuit.bytes
    for (const { source, bytes } of circuit.messages) {
      const left = (this.#sources.get(source) ?? 0) - bytes
      if (left > 0) this.#sources.set(source, left)
      else this.#sources.delete(source)
    }
    return circuit.messages
  }

  /** Drops messages that were kept for too long, and calls `forgotten` for each. */
  forgetOld(now: number, forgotten: (circuitId: string, message: Message) => void = () => undefined): void {
    for (const [circuitId, { until }] of this.#circuits) {
      if (now < until) return
      for (const { message } of this.take(circuitId)) forgotten(circuitId, message)
    }
  }
}
