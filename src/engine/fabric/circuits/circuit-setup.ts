import { dialFailed, dialSucceeded, laidAt, opened, type RouteFailure } from '../../../domain/fabric/index.ts'
import { equals } from '../../../domain/filter/index.ts'
import type { CircuitFailure } from '../../../ports/events.ts'
import type { PeerData } from '../../../ports/fabric/index.ts'
import type { RecordOf } from '../../../resources/declaration/resource.ts'
import { terminators } from '../../../resources/routers/terminators.ts'
import type { services } from '../../../resources/services/services.ts'
import type { EngineContext } from '../../context/context.ts'
import type { ConnectedRouter } from '../routers/connected-routers.ts'
import type { Network } from '../routers/network.ts'
import { RouterRefusal } from '../routers/refusal.ts'
import type { Circuit, CircuitClient } from './circuit.ts'
import type { CircuitEnds } from './circuit-end.ts'
import type { OpenCircuits } from './open-circuits.ts'
import { PEER_DATA, sharedWithClient, storedPeerData } from './peer-data.ts'
import { randomFraction } from './random-fraction.ts'
import type { RouteExchange, SettledAttempt } from './route-exchange.ts'
import { selectTerminator, type Terminator } from './terminator-selection.ts'

/** A circuit that somebody may have. */
export interface CircuitWish {
  readonly client: CircuitClient
  readonly service: RecordOf<typeof services>
  /** Empty for the instances without a name. */
  readonly instanceId: string
  readonly peerData: PeerData
}

/** A circuit that is laid, with what the client is told by the host. */
export interface LaidCircuit {
  readonly circuit: Circuit
  readonly peerData: PeerData
}

interface Parts {
  readonly context: EngineContext
  readonly network: Network
  readonly circuits: OpenCircuits
  readonly exchange: RouteExchange
  readonly ends: CircuitEnds
  /** A terminator that its router does not know is gone, or is not to be used first any more. */
  readonly onDeadTerminator: (terminator: Terminator) => Promise<void>
}

const ATTEMPTS = 2
/** Milliseconds that all attempts may take together, and each of them: clients wait no longer. */
const PATIENCE_MS = 20_000
const ATTEMPT_MS = 10_000
/** How many circuits may be in the making, and open: whoever asks beyond it is refused, not kept waiting, and comes again. */
const MOST_AT_ONCE = 20_000
const MOST_OPEN = 500_000
/** One router alone has less, so that nobody takes the place of all others. */
const MOST_AT_ONCE_OF_A_ROUTER = 2000
const MOST_OPEN_OF_A_ROUTER = 100_000

/** Lays circuits: chooses a terminator, finds a way to it and has every router of the way do its part. */
export class CircuitSetup {
  readonly #parts: Parts
  /** How many circuits are in the making, by the router that asked. */
  readonly #making = new Map<string, number>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Lays a circuit from a router. Throws {@link RouterRefusal} when there is no way to the service. */
  async lay(router: ConnectedRouter, wish: CircuitWish): Promise<LaidCircuit> {
    const making = this.#making.get(router.id) ?? 0
    if (this.#isFull(router.id, making)) throw new RouterRefusal('internal', 'too many circuits', { hint: 'too-busy' })
    this.#making.set(router.id, making + 1)
    try {
      return await this.#lay(router, wish)
    } finally {
      const left = (this.#making.get(router.id) ?? 1) - 1
      if (left > 0) this.#making.set(router.id, left)
      else this.#making.delete(router.id)
    }
  }

  #isFull(routerId: string, making: number): boolean {
    const { circuits, exchange } = this.#parts
    return (
      exchange.size >= MOST_AT_ONCE ||
      circuits.size >= MOST_OPEN ||
      making >= MOST_AT_ONCE_OF_A_ROUTER ||
      circuits.countFrom(routerId) >= MOST_OPEN_OF_A_ROUTER
    )
  }

  async #lay(router: ConnectedRouter, wish: CircuitWish): Promise<LaidCircuit> {
    const { context, exchange } = this.#parts
    const begunAt = context.clock.now()
    const { service, client } = wish
    if (service.encryptionRequired && !wish.peerData.has(PEER_DATA.publicKey)) {
      this.#tellFailure(router, wish, 'refused')
      const message = 'encryption required on service, initiator did not send public header'
      throw new RouterRefusal('encryption-data-missing', message)
    }
    const id = context.random.uuid()
    const ends = { ingress: context.random.uuid(), egress: context.random.uuid() }
    let failure: RouteFailure | undefined
    for (let number = 0; number < ATTEMPTS && context.clock.now() - begunAt < PATIENCE_MS; number += 1) {
      const selection = await this.#select(router, wish)
      if ('failure' in selection) {
        if (failure !== undefined) break
        this.#tellFailure(router, wish, selection.failure)
        throw new RouterRefusal('internal', FAILURE_TEXTS[selection.failure], { circuitId: id })
      }
      const { terminator, path } = selection
      const tags = new Map([
        ['serviceId', service.id],
        ['clientId', client.identityId],
        ['hostId', terminator.hostId],
      ])
      const egress = { binding: terminator.binding, destination: terminator.address, peerData: wish.peerData }
      const settled = await exchange.lay({ id, ends, egress, tags }, number, path, ATTEMPT_MS, true)
      failure = settled.attempt.failure
      if (failure === undefined) {
        const { hostId } = terminator
        const circuit: Circuit = {
          id,
          client,
          serviceId: service.id,
          terminatorId: terminator.id,
          hostId,
          ends,
          egress,
          tags,
          createdAt: begunAt,
          course: opened(path),
        }
        return this.#open(router, wish, circuit, settled, terminator)
      }
      await this.#noteFailure(id, settled, terminator)
    }
    this.#tellFailure(router, wish, 'routers-failed')
    throw new RouterRefusal('internal', failure?.message ?? 'routers did not lay the circuit', { circuitId: id })
  }

  async #select(router: ConnectedRouter, { service, instanceId, peerData }: CircuitWish) {
    const { context, network, circuits } = this.#parts
    const { known, presence } = await context.storage.read(async (tx) => ({
      known: await tx.collection(terminators).find({ where: equals('serviceId', service.id) }),
      presence: await context.presence.at(tx),
    }))
    const stickTo = peerData.get(PEER_DATA.stickiness)
    return selectTerminator(
      known.items.filter(({ identity }) => identity === instanceId),
      network.topology(),
      circuits,
      (routerId) => presence.connectionOf(routerId) !== undefined,
      {
        from: router.id,
        strategy: service.terminatorStrategy,
        stickTo: stickTo && new TextDecoder().decode(stickTo),
        random: randomFraction(context.random),
        now: context.clock.now(),
      },
    )
  }

  #open(
    router: ConnectedRouter,
    wish: CircuitWish,
    circuit: Circuit,
    { attempt, peerData }: SettledAttempt,
    terminator: Terminator,
  ): LaidCircuit {
    const { context, circuits, ends } = this.#parts
    const told = sharedWithClient(storedPeerData(terminator), peerData)
    if (wish.service.encryptionRequired && !told.has(PEER_DATA.publicKey)) {
      ends.unroute(circuit.id, attempt.path.routers, true)
      this.#tellFailure(router, wish, 'refused')
      const message = 'encryption required on service, terminator did not send public header'
      throw new RouterRefusal('encryption-data-missing', message, { circuitId: circuit.id })
    }
    const at = context.clock.now()
    circuits.noteUse(terminator.id, dialSucceeded(circuits.useOf(terminator.id), at))
    circuits.add(circuit)
    const { id: circuitId, client, serviceId, terminatorId, createdAt } = circuit
    const { identityId } = client
    const facts = { circuitId, identityId, serviceId, terminatorId, at }
    context.events.emit('circuit.opened', { ...facts, path: attempt.path.routers, tookMs: at - createdAt })
    if (wish.service.terminatorStrategy !== 'sticky') return { circuit, peerData: told }
    const stickiness = new TextEncoder().encode(terminator.id)
    return { circuit, peerData: new Map([...told, [PEER_DATA.stickiness, stickiness]]) }
  }

  async #noteFailure(circuitId: string, { attempt }: SettledAttempt, terminator: Terminator): Promise<void> {
    const { context, circuits, ends, onDeadTerminator } = this.#parts
    const { failure, path } = attempt
    // A router that did not answer may still do its part later.
    ends.unroute(circuitId, failure?.cause === 'no-answer' ? path.routers : laidAt(attempt), true)
    if (failure?.isAtTerminator !== true) return
    circuits.noteUse(terminator.id, dialFailed(circuits.useOf(terminator.id), context.clock.now()))
    if (failure.cause === 'invalid-terminator') await onDeadTerminator(terminator)
  }

  #tellFailure(router: ConnectedRouter, { client, service }: CircuitWish, reason: CircuitFailure): void {
    const { events, clock } = this.#parts.context
    const { identityId } = client
    events.emit('circuit.failed', {
      identityId,
      serviceId: service.id,
      routerId: router.id,
      reason,
      at: clock.now(),
    })
  }
}

/** For the logs of clients. */
const FAILURE_TEXTS = {
  'no-terminators': 'service has no terminators',
  'no-online-terminators': 'service has no terminators on connected routers',
  'no-terminators-here': 'the terminators of the service are on routers that are connected to other controllers only',
  'no-path': 'no path to a terminator of the service',
} as const
