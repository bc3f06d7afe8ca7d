import { expect, it } from 'vitest'
// Internals: the ends of circuits alone, so that every order of messages can be tried.
import { type Acknowledgement, type CircuitSide, PAYLOAD_FLAG, type Payload, XgressEnd } from '../../src/data-plane.ts'

const CIRCUITS = 150
const ECHOES = 10
const TICK_MS = 100
const CHUNK = { items: new Map(), body: new Uint8Array(100) }

/**
 * Many circuits over one way that carries one message each millisecond, and loses none. Every answer waits behind those of all
 * others, so that round trips are long and differ.
 */
class CrowdedWay {
  now = 1_000_000
  payloads = 0
  sentAgain = 0
  readonly echoes = new Map<number, number>()
  readonly #queue: (() => void)[] = []
  readonly #ends: { readonly end: XgressEnd; read(): void }[] = []

  open(circuit: number): void {
    const initiator = this.#end(circuit, 'initiator', () => {
      const echoes = (this.echoes.get(circuit) ?? 0) + 1
      this.echoes.set(circuit, echoes)
      if (echoes < ECHOES) initiator.end.write(CHUNK, this.now)
    })
    const terminator = this.#end(circuit, 'terminator', () => terminator.end.write(CHUNK, this.now))
    initiator.peer = terminator.end
    terminator.peer = initiator.end
    initiator.end.start(this.now)
    initiator.end.write(CHUNK, this.now)
  }

  /** Runs until nothing is under way any more. */
  run(): void {
    for (; this.#queue.length > 0; this.now += 1) {
      this.#queue.shift()?.()
      if (this.now % TICK_MS === 0) for (const { end } of this.#ends) end.tick(this.now)
    }
  }

  #end(circuit: number, side: CircuitSide, arrived: () => void) {
    const own: { end: XgressEnd; peer?: XgressEnd; read(): void } = {
      end: new XgressEnd(
        { circuitId: `circuit ${circuit}`, side, now: this.now },
        {
          payload: (payload) => this.#carry(() => own.peer?.takePayload(payload, this.now), payload),
          acknowledgement: (acknowledgement: Acknowledgement) =>
            this.#carry(() => own.peer?.takeAcknowledgement(acknowledgement, this.now)),
          readable: () => own.read(),
          writable: () => undefined,
          over: () => undefined,
        },
      ),
      read: () => {
        for (let reading = own.end.read(this.now); reading !== undefined; reading = own.end.read(this.now)) {
          if (reading.type === 'data') arrived()
        }
      },
    }
    this.#ends.push(own)
    return own
  }

  #carry(arrive: () => void, payload?: Payload): void {
    if (payload !== undefined) this.payloads += 1
    if (payload !== undefined && (payload.flags & PAYLOAD_FLAG.retransmit) !== 0) this.sentAgain += 1
    this.#queue.push(() => {
      arrive()
      for (const { end } of this.#ends) end.acknowledge()
    })
  }
}

it('waits for acknowledgements as long as the way takes: where nothing is lost hardly anything is sent again', () => {
  const way = new CrowdedWay()
  for (let circuit = 0; circuit < CIRCUITS; circuit += 1) way.open(circuit)
  way.run()
  expect([...way.echoes.values()]).toEqual(Array.from({ length: CIRCUITS }, () => ECHOES))
  expect(way.sentAgain).toBeLessThan(way.payloads / 50)
})
