import { earlier } from '../../base/time.ts'
import type { EngineContext } from '../../context/context.ts'
import type { CircuitFailure } from '../../facts/access/explain/service-reach.rules.ts'
import { PEER_DATA } from '../../facts/data-plane/peer-data-keys.ts'
import type { PeerData } from '../../facts/fabric/messages/index.ts'
import { dialFailed, dialSucceeded, opened, type RouteFailure } from '../../facts/fabric/rules/index.ts'
import { RouterRefusal } from '../channels/channel-admission.ts'
import type { ConnectedRouter } from '../channels/connected-routers.ts'
import type { Carrying } from './access-loss.ts'
import type { CircuitEnds } from './circuit-end.ts'
import type { DialFailures } from './dial-failures.ts'
import type { DialRight } from './dial-rights.ts'
import type { DialRecord, DialTraces } from './dial-traces.ts'
import { type DirectCircuits, type DirectTerms, sharedByTerms } from './direct-circuits.ts'
import { type AskedCircuit, type Chosen, failureText, type HostChoice, partyOf } from './host-choice.ts'
import { type Circuit, factsOf, type OpenCircuits, wayOf } from './open-circuits.ts'
import { keyProblem, sharedWithClient, storedPeerData } from './peer-data.ts'
import type { RouteExchange, SettledAttempt } from './route-exchange.ts'
import { StorageAnswers } from './storage-answers.ts'
import type { Terminator } from './terminator-selection.ts'

/** A circuit that is laid, with the host's data for the client, and the facts by which it was judged. */
export interface LaidCircuit {
  readonly circuit: Circuit
  readonly peerData: PeerData
  readonly carrying: Carrying
  /** The end at which it is over already. */
  readonly over: EarlyEnd | undefined
}

type EarlyEnd = 'host-closed'

/** The present attempt of a circuit in the making: the routers of its way, and the end at which it is over before it is open. */
interface Attempt {
  readonly routers: readonly string[]
  over: EarlyEnd | undefined
}

/** An attempt that failed, and the right of the dial. */
interface FailedAttempt {
  readonly failure: RouteFailure
  readonly dial: DialRight
}

/** A circuit in the making. */
interface Dialing {
  readonly id: string
  /** Epoch ms. */
  readonly begunAt: number
  readonly router: ConnectedRouter
  readonly asked: AskedCircuit
  /** Undefined where no caller follows dials. */
  readonly record: DialRecord | undefined
}

interface Parts {
  readonly context: EngineContext
  readonly hosts: HostChoice
  readonly circuits: OpenCircuits
  readonly exchange: RouteExchange
  readonly ends: CircuitEnds
  readonly failures: DialFailures
  readonly traces: DialTraces
  /** Undefined where the ends of circuits do not prove themselves to each other. */
  readonly direct: DirectCircuits | undefined
  /** A terminator that its router does not know is gone, or is not to be used first any more. */
  readonly onDeadTerminator: (terminator: Terminator) => Promise<void>
}

/** Terminators that one dial tries: the second one where the first does not answer. */
const ATTEMPTS = 2
/** Milliseconds that all attempts may take together, and each of them: clients wait no longer. */
const PATIENCE_MS = 20_000
const ATTEMPT_MS = 10_000
/** The most circuits that are being laid, and that are open: a further dial is refused, not kept waiting, and its client tries again. */
const MOST_AT_ONCE = 20_000
const MOST_OPEN = 500_000
/** A single router gets fewer places, so that it cannot take the places of all others. */
const MOST_AT_ONCE_OF_A_ROUTER = 2000
const MOST_OPEN_OF_A_ROUTER = 100_000

/** Lays circuits: chooses a terminator, finds a path to it and sends a route to every router of the path. */
export class CircuitSetup {
  readonly #parts: Parts
  /** How many circuits are in the making, by the router that asked. */
  readonly #making = new Map<string, number>()
  readonly #attempts = new Map<string, Attempt>()
  readonly #storage: StorageAnswers

  constructor(parts: Parts) {
    this.#parts = parts
    this.#storage = new StorageAnswers(parts.context)
  }

  /**
   * Lays a circuit from a router. Throws {@link RouterRefusal} when there is no way to the service, and `StorageUnavailable` when the
   * storage fails or hangs.
   */
  async lay(router: ConnectedRouter, asked: AskedCircuit): Promise<LaidCircuit> {
    const making = this.#making.get(router.id) ?? 0
    if (this.#isFull(router.id, making)) throw new RouterRefusal('internal', 'too many circuits', { hint: 'too-busy' })
    this.#making.set(router.id, making + 1)
    try {
      return await this.#reserve(router, asked)
    } finally {
      const left = (this.#making.get(router.id) ?? 1) - 1
      if (left > 0) this.#making.set(router.id, left)
      else this.#making.delete(router.id)
    }
  }

  /** A circuit that is being laid is over at one of its ends: a host may answer and leave before the client gets the answer. */
  endEarly(routerId: string, circuitId: string, reason: EarlyEnd): void {
    const attempt = this.#attempts.get(circuitId)
    if (attempt?.routers.includes(routerId) === true) attempt.over = reason
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

  async #reserve(router: ConnectedRouter, asked: AskedCircuit): Promise<LaidCircuit> {
    const id = asked.circuitId ?? this.#parts.context.random.uuid()
    if (this.#attempts.has(id) || this.#parts.circuits.lately(id) !== undefined) {
      throw new RouterRefusal('internal', 'there is a circuit of this id', { hint: 'not-retriable', circuitId: id })
    }
    this.#attempts.set(id, { routers: [], over: undefined })
    try {
      const begunAt = this.#parts.context.clock.now()
      return await this.#traced({ id, begunAt, router, asked, record: this.#parts.traces.begin(id, router.id) })
    } finally {
      this.#attempts.delete(id)
    }
  }

  async #traced(dialing: Dialing): Promise<LaidCircuit> {
    const { record } = dialing
    if (record === undefined) return this.#tryTerminators(dialing)
    try {
      const laid = await this.#tryTerminators(dialing)
      this.#parts.traces.over(record, undefined)
      return laid
    } catch (error) {
      this.#parts.traces.over(record, error)
      throw error
    }
  }

  async #tryTerminators(dialing: Dialing): Promise<LaidCircuit> {
    const { context, direct, exchange } = this.#parts
    const { id, begunAt, router, asked, record } = dialing
    let failed: FailedAttempt | undefined
    for (let number = 0; number < ATTEMPTS && context.clock.now() - begunAt < PATIENCE_MS; number += 1) {
      const chosen = await this.#fromStorage(dialing, failed, () => this.#parts.hosts.choose(router.id, asked))
      const { dial, selection } = chosen
      const { service, claim } = dial
      record?.allowed(dial)
      const lacking = (direct ?? { dialerProblem: keyProblem }).dialerProblem(service, asked.peerData)
      if (lacking !== undefined) throw this.#unencrypted(dialing, dial, lacking)
      if ('failure' in selection) {
        if (failed !== undefined) break
        this.#tellFailure(dialing, dial, selection.failure)
        throw new RouterRefusal('internal', failureText(selection, service.name, asked.instanceId), { circuitId: id })
      }
      const { terminator, path } = selection
      // A router that has an address already takes the part of the host for done: each attempt has its own.
      const ends = { ingress: context.random.uuid(), egress: context.random.uuid() }
      const tags = new Map([
        ['serviceId', service.id],
        ['clientId', claim.identityId],
        ['hostId', terminator.hostId],
      ])
      const terms = direct && (await this.#termsOf(dialing, failed, dial, terminator, direct))
      const peerData = terms?.forHost ?? asked.peerData
      const egress = { binding: terminator.binding, destination: terminator.address, peerData }
      const askedMs = record?.elapsed() ?? 0
      this.#attempts.set(id, { routers: path.routers, over: undefined })
      const settled = await exchange.lay({ id, ends, egress, tags }, number, path, ATTEMPT_MS, true)
      record?.attempted(settled, terminator, askedMs)
      const { failure } = settled.attempt
      if (failure === undefined) {
        const circuit: Circuit = {
          id,
          client: partyOf(claim, dial.right.isByReports),
          serviceId: service.id,
          terminatorId: terminator.id,
          instanceId: terminator.identity,
          host: this.#parts.hosts.hostOf(terminator, selection.host),
          ends,
          egress,
          tags,
          createdAt: begunAt,
          course: opened(path),
        }
        return this.#open(dialing, chosen, circuit, settled, { terminator, terms })
      }
      failed = { failure, dial }
      await this.#noteFailure(dialing, failed, settled, terminator)
    }
    if (failed !== undefined) this.#tellFailure(dialing, failed.dial, 'routers-failed', failed.failure)
    const message = failed?.failure.message ?? 'routers did not lay the circuit'
    throw new RouterRefusal('internal', message, { circuitId: id })
  }

  #open(
    dialing: Dialing,
    { dial, selection, revision }: Chosen,
    circuit: Circuit,
    { attempt, peerData }: SettledAttempt,
    { terminator, terms }: { readonly terminator: Terminator; readonly terms: DirectTerms | undefined },
  ): LaidCircuit {
    const { context, circuits, ends, failures } = this.#parts
    const ofHost = sharedWithClient(storedPeerData(terminator), peerData)
    const shared = terms === undefined ? ofHost : sharedByTerms(ofHost, terms)
    if (dial.service.encryptionRequired && !shared.has(PEER_DATA.publicKey) && terms?.isAgreed !== true) {
      ends.unroute(circuit.id, attempt.path.routers, true)
      const message = 'encryption required on service, terminator did not send public header'
      throw this.#unencrypted(dialing, dial, message)
    }
    const at = context.clock.now()
    circuits.noteUse(terminator.id, dialSucceeded(circuits.useOf(terminator.id), at))
    circuits.add(circuit)
    const facts = factsOf(circuit, at)
    failures.succeeded(facts.identityId, facts.serviceId)
    const way = wayOf(circuit, attempt.path)
    context.events.emit('circuit.opened', { ...facts, ...way, tookMs: at - circuit.createdAt })
    const host = 'host' in selection ? selection.host?.until : undefined
    const carrying = { revision, until: earlier(dial.right.until, host) }
    const over = this.#attempts.get(circuit.id)?.over
    if (dial.service.terminatorStrategy !== 'sticky') return { circuit, peerData: shared, carrying, over }
    const stickiness = new TextEncoder().encode(terminator.id)
    return { circuit, peerData: new Map([...shared, [PEER_DATA.stickiness, stickiness]]), carrying, over }
  }

  /** How the ends of a circuit prove themselves to each other; undefined where they do not. Throws {@link RouterRefusal}. */
  async #termsOf(
    dialing: Dialing,
    failed: FailedAttempt | undefined,
    dial: DialRight,
    terminator: Terminator,
    direct: DirectCircuits,
  ): Promise<DirectTerms | undefined> {
    const ends = { circuitId: dialing.id, dial, terminator, peerData: dialing.asked.peerData }
    const terms = await this.#fromStorage(dialing, failed, () => direct.meet(ends))
    if (typeof terms === 'string') throw this.#unencrypted(dialing, dial, terms)
    return terms
  }

  /** The refusal of a dial whose ends do not encrypt, as reported. */
  #unencrypted(dialing: Dialing, dial: DialRight, message: string): RouterRefusal {
    this.#tellFailure(dialing, dial, 'refused')
    return new RouterRefusal('encryption-data-missing', message, { circuitId: dialing.id })
  }

  /** Asks the storage. If it fails after an attempt has failed, the dial ends by that attempt, and is reported. */
  async #fromStorage<T>(dialing: Dialing, failed: FailedAttempt | undefined, work: () => Promise<T>): Promise<T> {
    try {
      return await this.#storage.within(dialing.id, work)
    } catch (error) {
      if (failed !== undefined) this.#tellFailure(dialing, failed.dial, 'routers-failed', failed.failure)
      throw error
    }
  }

  async #noteFailure(
    dialing: Dialing,
    failed: FailedAttempt,
    { attempt: { path } }: SettledAttempt,
    terminator: Terminator,
  ): Promise<void> {
    const { context, circuits, ends, onDeadTerminator } = this.#parts
    const { failure } = failed
    // Also the router that failed, because it may have reached the host: a host that does not learn of the end waits for the client, and
    // serves no other dialer.
    ends.unroute(dialing.id, path.routers, true)
    if (!failure.isAtTerminator) return
    circuits.noteUse(terminator.id, dialFailed(circuits.useOf(terminator.id), context.clock.now()))
    if (failure.cause === 'invalid-terminator')
      await this.#fromStorage(dialing, failed, () => onDeadTerminator(terminator))
  }

  #tellFailure(
    { id: circuitId, begunAt, router, record }: Dialing,
    { claim, service }: DialRight,
    reason: CircuitFailure,
    failure?: RouteFailure,
  ): void {
    const { context, failures } = this.#parts
    const { identityId } = claim
    const at = context.clock.now()
    record?.failed(reason)
    failures.failed(identityId, service.id, {
      at,
      reason,
      cause: failure?.cause ?? null,
      routerId: failure?.routerId ?? null,
    })
    const facts = { circuitId, identityId, serviceId: service.id, routerId: router.id }
    context.events.emit('circuit.failed', { ...facts, reason, cause: failure?.cause, tookMs: at - begunAt, at })
  }
}
