import { type Decision, earlier } from '../../access/decision.rules.ts'
import type { EngineContext } from '../../kernel/context/context.ts'
import { equals } from '../../kernel/filter/index.ts'
import type { CircuitFailure } from '../../ports/events.ts'
import type { PeerData } from '../../ports/fabric/index.ts'
import type { ReadTransaction } from '../../ports/record-storage.ts'
import { shutOutAmong } from '../../routers/router-admission.ts'
import { terminators } from '../../services/terminator.resource.ts'
import { RouterRefusal } from '../routers/admission.ts'
import type { ConnectedRouter, ConnectedRouters } from '../routers/connected-routers.ts'
import type { Network } from '../routers/network.ts'
import { dialFailed, dialSucceeded, judgesPosture, opened, type RouteFailure } from '../rules/index.ts'
import type { Carrying } from './access-loss.ts'
import type { CircuitEnds } from './circuit-end.ts'
import type { AskRight, DialRight } from './dial-rights.ts'
import type { Circuit, CircuitParty, OpenCircuits } from './open-circuits.ts'
import { PEER_DATA, sharedWithClient, storedPeerData } from './peer-data.ts'
import type { RouteExchange, SettledAttempt } from './route-exchange.ts'
import type { ServiceClaim, ServiceRights } from './service-rights.ts'
import {
  type FitSelection,
  randomFraction,
  selectFit,
  selectTerminator,
  type Terminator,
} from './terminator-selection.ts'

/** The ports by which a circuit is laid. */
export type CircuitSetupPorts = Pick<EngineContext, 'clock' | 'events' | 'presence' | 'random' | 'storage'>

/** A circuit that somebody wants. */
export interface AskedCircuit {
  /** Judged anew with every attempt, in the snapshot by which the terminator is chosen. */
  readonly ask: AskRight
  /** Empty for the instances without a name. */
  readonly instanceId: string
  readonly peerData: PeerData
  /** The id that the router proposes; undefined where it leaves that to us. */
  readonly circuitId: string | undefined
}

/** A circuit that is laid, with what the client is told by the host, and by what it was judged. */
export interface LaidCircuit {
  readonly circuit: Circuit
  readonly peerData: PeerData
  readonly carrying: Carrying
}

/** Somebody who may have a circuit, and the terminator that was chosen for it, in one snapshot. */
interface Chosen {
  readonly dial: DialRight
  readonly selection: FitSelection
  readonly revision: number
}

interface Parts {
  readonly context: CircuitSetupPorts
  readonly rights: ServiceRights
  readonly routers: ConnectedRouters
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
  /** Their ids. */
  readonly #ids = new Set<string>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Lays a circuit from a router. Throws {@link RouterRefusal} when there is no way to the service. */
  async lay(router: ConnectedRouter, asked: AskedCircuit): Promise<LaidCircuit> {
    const making = this.#making.get(router.id) ?? 0
    if (this.#isFull(router.id, making)) throw new RouterRefusal('internal', 'too many circuits', { hint: 'too-busy' })
    this.#making.set(router.id, making + 1)
    try {
      return await this.#lay(router, asked)
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

  async #lay(router: ConnectedRouter, asked: AskedCircuit): Promise<LaidCircuit> {
    const id = asked.circuitId ?? this.#parts.context.random.uuid()
    if (this.#ids.has(id) || this.#parts.circuits.lately(id) !== undefined) {
      throw new RouterRefusal('internal', 'there is a circuit of this id', { hint: 'not-retriable', circuitId: id })
    }
    this.#ids.add(id)
    try {
      return await this.#layAs(id, router, asked)
    } finally {
      this.#ids.delete(id)
    }
  }

  async #layAs(id: string, router: ConnectedRouter, asked: AskedCircuit): Promise<LaidCircuit> {
    const { context, exchange } = this.#parts
    const begunAt = context.clock.now()
    let failed: { readonly failure: RouteFailure; readonly dial: DialRight } | undefined
    for (let number = 0; number < ATTEMPTS && context.clock.now() - begunAt < PATIENCE_MS; number += 1) {
      const chosen = await this.#choose(router, asked, id)
      const { dial, selection } = chosen
      const { service, claim } = dial
      if ('failure' in selection) {
        if (failed !== undefined) break
        this.#tellFailure(router, dial, selection.failure)
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
      const egress = { binding: terminator.binding, destination: terminator.address, peerData: asked.peerData }
      const settled = await exchange.lay({ id, ends, egress, tags }, number, path, ATTEMPT_MS, true)
      const { failure } = settled.attempt
      if (failure === undefined) {
        const circuit: Circuit = {
          id,
          client: partyOf(claim, dial.right.isByReports),
          serviceId: service.id,
          terminatorId: terminator.id,
          host: this.#hostOf(terminator, selection.host),
          ends,
          egress,
          tags,
          createdAt: begunAt,
          course: opened(path),
        }
        return this.#open(router, chosen, circuit, settled, terminator)
      }
      failed = { failure, dial }
      await this.#noteFailure(id, settled, terminator)
    }
    if (failed !== undefined) this.#tellFailure(router, failed.dial, 'routers-failed')
    const message = failed?.failure.message ?? 'routers did not lay the circuit'
    throw new RouterRefusal('internal', message, { circuitId: id })
  }

  /** Who asks is judged, and the terminator is chosen, by the facts of one snapshot. */
  async #choose(router: ConnectedRouter, asked: AskedCircuit, circuitId: string): Promise<Chosen> {
    return this.#parts.context.storage.read(async (tx) => {
      const dial = await asked.ask(tx)
      if (dial.service.encryptionRequired && !asked.peerData.has(PEER_DATA.publicKey)) {
        this.#tellFailure(router, dial, 'refused')
        const message = 'encryption required on service, initiator did not send public header'
        throw new RouterRefusal('encryption-data-missing', message, { circuitId })
      }
      return { dial, selection: await this.#select(tx, router, asked, dial), revision: tx.revision }
    })
  }

  async #select(
    tx: ReadTransaction,
    router: ConnectedRouter,
    { instanceId, peerData }: AskedCircuit,
    { service }: DialRight,
  ): Promise<FitSelection> {
    const { context, circuits, network, routers } = this.#parts
    const { items } = await tx.collection(terminators).find({ where: equals('serviceId', service.id) })
    const presence = await context.presence.at(tx)
    const stickTo = peerData.get(PEER_DATA.stickiness)
    const question = {
      from: router.id,
      strategy: service.terminatorStrategy,
      stickTo: stickTo && new TextDecoder().decode(stickTo),
      random: randomFraction(context.random),
      now: context.clock.now(),
    }
    const isElsewhere = (routerId: string) =>
      routers.get(routerId) === undefined && presence.connectionOf(routerId) !== undefined
    const fitness = {
      rightsOf: (known: readonly Terminator[]) => this.#rightsOfHosts(tx, known),
      shutOut: (routerIds: readonly string[]) => shutOutAmong(tx, routerIds),
      topologyWithout: (routerIds: ReadonlySet<string>) => network.topologyWithout(routerIds),
    }
    const instances = items.filter(({ identity }) => identity === instanceId)
    return selectFit(instances, fitness, (known, topology) =>
      selectTerminator(known, topology, circuits, isElsewhere, question),
    )
  }

  async #rightsOfHosts(tx: ReadTransaction, known: readonly Terminator[]) {
    const claims = known.map((terminator) => this.#hostingClaim(terminator))
    const judged = await this.#parts.rights.judge(
      tx,
      claims.flatMap((claim) => claim ?? []),
    )
    return claims.map((claim) => claim && judged.get(claim))
  }

  /** Makes the claim of the host of a terminator; undefined where an operator registered the address. */
  #hostingClaim({
    hostId: identityId,
    apiSessionId,
    sessionId,
    serviceId,
    routerId,
  }: Terminator): ServiceClaim | undefined {
    if (identityId === '') return undefined
    const { capabilities = [] } = this.#parts.routers.get(routerId) ?? {}
    const mustPass = !judgesPosture(capabilities)
    const party = { identityId, apiSessionId: apiSessionId ?? undefined, sessionId: sessionId ?? undefined }
    return { ...party, type: 'Bind', serviceId, routerId, mustPass }
  }

  #hostOf(terminator: Terminator, right: Decision | undefined): CircuitParty | undefined {
    const claim = this.#hostingClaim(terminator)
    return claim && partyOf(claim, right?.isByReports === true)
  }

  #open(
    router: ConnectedRouter,
    { dial, selection, revision }: Chosen,
    circuit: Circuit,
    { attempt, peerData }: SettledAttempt,
    terminator: Terminator,
  ): LaidCircuit {
    const { context, circuits, ends } = this.#parts
    const told = sharedWithClient(storedPeerData(terminator), peerData)
    if (dial.service.encryptionRequired && !told.has(PEER_DATA.publicKey)) {
      ends.unroute(circuit.id, attempt.path.routers, true)
      this.#tellFailure(router, dial, 'refused')
      const message = 'encryption required on service, terminator did not send public header'
      throw new RouterRefusal('encryption-data-missing', message, { circuitId: circuit.id })
    }
    const at = context.clock.now()
    circuits.noteUse(terminator.id, dialSucceeded(circuits.useOf(terminator.id), at))
    circuits.add(circuit)
    const { id: circuitId, client, serviceId, terminatorId, createdAt } = circuit
    const { identityId } = client
    const facts = { circuitId, identityId, serviceId, terminatorId, at }
    context.events.emit('circuit.opened', {
      ...facts,
      path: attempt.path.routers,
      links: attempt.path.links,
      tookMs: at - createdAt,
    })
    const host = 'host' in selection ? selection.host?.until : undefined
    const carrying = { revision, until: earlier(dial.right.until, host) }
    if (dial.service.terminatorStrategy !== 'sticky') return { circuit, peerData: told, carrying }
    const stickiness = new TextEncoder().encode(terminator.id)
    return { circuit, peerData: new Map([...told, [PEER_DATA.stickiness, stickiness]]), carrying }
  }

  async #noteFailure(circuitId: string, { attempt }: SettledAttempt, terminator: Terminator): Promise<void> {
    const { context, circuits, ends, onDeadTerminator } = this.#parts
    const { failure, path } = attempt
    // Also who failed, for it may have reached the host before: one that is not told waits for the client, and answers nobody else.
    ends.unroute(circuitId, path.routers, true)
    if (failure?.isAtTerminator !== true) return
    circuits.noteUse(terminator.id, dialFailed(circuits.useOf(terminator.id), context.clock.now()))
    if (failure.cause === 'invalid-terminator') await onDeadTerminator(terminator)
  }

  #tellFailure(router: ConnectedRouter, { claim, service }: DialRight, reason: CircuitFailure): void {
    const { events, clock } = this.#parts.context
    const { identityId } = claim
    events.emit('circuit.failed', {
      identityId,
      serviceId: service.id,
      routerId: router.id,
      reason,
      at: clock.now(),
    })
  }
}

/** Who is at an end of a circuit, as it was judged. */
function partyOf({ identityId, apiSessionId, sessionId, mustPass }: ServiceClaim, byReports: boolean): CircuitParty {
  return { identityId, apiSessionId, sessionId, mustPass: mustPass || byReports }
}

/** Why there is no way, for the logs of clients: with the service and the instance that were asked for. */
function failureText(
  { failure, hasUnfit }: Extract<FitSelection, { readonly failure: unknown }>,
  serviceName: string,
  instanceId: string,
): string {
  const service = `service ${serviceName}`
  const instance = instanceId === '' ? '' : ` for instance ${instanceId}`
  switch (failure) {
    case 'no-terminators':
      return hasUnfit
        ? `${service} has no terminators${instance} whose host may bind it now`
        : `${service} has no terminators${instance}`
    case 'no-online-terminators':
      return `${service} has no terminators${instance} on connected routers`
    case 'no-terminators-here':
      return `the terminators of ${service}${instance} are on routers that are connected to other controllers only`
    case 'no-path':
      return `no path to a terminator of ${service}${instance}`
  }
}
