import type { EngineContext } from '../../context/context.ts'
import type { Decision } from '../../facts/access/decision.rules.ts'
import type { ServiceReach } from '../../facts/access/explain/service-reach.rules.ts'
import { PEER_DATA } from '../../facts/data-plane/peer-data-keys.ts'
import type { PeerData } from '../../facts/fabric/messages/index.ts'
import { judgesPosture } from '../../facts/routers/capabilities.rules.ts'
import { terminators } from '../../facts/services/terminator.resource.ts'
import { equals } from '../../kernel/filter/index.ts'
import type { ReadTransaction } from '../../ports/record-storage.ts'
import { shutOutAmong } from '../../routers/router-admission.ts'
import type { ConnectedRouters } from '../channels/connected-routers.ts'
import type { Network } from '../channels/network.ts'
import type { AskRight, DialRight } from './dial-rights.ts'
import type { DirectCircuits } from './direct-circuits.ts'
import type { CircuitParty, OpenCircuits } from './open-circuits.ts'
import type { ServiceClaim, ServiceRights } from './service-rights.ts'
import {
  type FitSelection,
  randomFraction,
  selectFit,
  selectTerminator,
  type Terminator,
} from './terminator-selection.ts'

/** A requested circuit. */
export interface AskedCircuit {
  /** Judged anew with every attempt, in the snapshot by which the terminator is chosen. */
  readonly ask: AskRight
  /** Empty for the instances without a name. */
  readonly instanceId: string
  readonly peerData: PeerData
  /** The id that the router proposes; undefined where it leaves the choice to the controller. */
  readonly circuitId: string | undefined
}

/** The right to a circuit, and the terminator that was chosen for it, in one snapshot. */
export interface Chosen {
  readonly dial: DialRight
  readonly selection: FitSelection
  readonly revision: number
}

interface Parts {
  readonly context: EngineContext
  readonly rights: ServiceRights
  readonly routers: ConnectedRouters
  readonly network: Network
  readonly circuits: OpenCircuits
  readonly direct: DirectCircuits | undefined
}

/** Chooses the terminator of a dial, and the path to it, by the present rights, routers and links. */
export class HostChoice {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** The dialer is judged, and the terminator is chosen, by the facts of one snapshot. */
  async choose(routerId: string, asked: AskedCircuit): Promise<Chosen> {
    return this.#parts.context.storage.read(async (tx) => {
      const dial = await asked.ask(tx)
      const all = await terminatorsOf(tx, dial.service.id)
      const known = this.#parts.direct?.fitting(dial.service, all) ?? all
      return { dial, selection: await this.#select(tx, routerId, known, asked, dial.service), revision: tx.revision }
    })
  }

  /** Whether a circuit to a service could be laid now from one of some routers, by a dial that names no instance. */
  async reach(tx: ReadTransaction, service: DialRight['service'], routerIds: readonly string[]): Promise<ServiceReach> {
    const known = await terminatorsOf(tx, service.id)
    const hostRouterIds = [...new Set(known.map(({ routerId }) => routerId))]
    let obstacle: ServiceReach['obstacle'] = known.length === 0 ? 'no-terminators' : 'no-path'
    const turn = this.#parts.context.turns.begin()
    for (const routerId of routerIds) {
      await turn()
      const selection = await this.#select(tx, routerId, known, { instanceId: '', peerData: new Map() }, service)
      if (!('failure' in selection)) return { obstacle: undefined, hostRouterIds }
      obstacle = selection.hasUnfit && selection.failure === 'no-terminators' ? 'hosts-may-not-bind' : selection.failure
      // From every router it would be the same.
      if (obstacle !== 'no-path') break
    }
    return { obstacle, hostRouterIds }
  }

  /** The host of a terminator, as it was judged; undefined where an operator registered the address. */
  hostOf(terminator: Terminator, right: Decision | undefined): CircuitParty | undefined {
    const claim = this.#hostingClaim(terminator)
    return claim && partyOf(claim, right?.isByReports === true)
  }

  async #select(
    tx: ReadTransaction,
    from: string,
    known: readonly Terminator[],
    { instanceId, peerData }: Pick<AskedCircuit, 'instanceId' | 'peerData'>,
    service: Pick<DialRight['service'], 'terminatorStrategy'>,
  ): Promise<FitSelection> {
    const { context, circuits, network, routers } = this.#parts
    const presence = await context.presence.at(tx)
    const stickTo = peerData.get(PEER_DATA.stickiness)
    const question = {
      from,
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
    const instances = known.filter(({ identity }) => identity === instanceId)
    return selectFit(instances, fitness, (left, topology) =>
      selectTerminator(left, topology, circuits, isElsewhere, question),
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
}

async function terminatorsOf(tx: ReadTransaction, serviceId: string): Promise<readonly Terminator[]> {
  return (await tx.collection(terminators).find({ where: equals('serviceId', serviceId) })).items
}

/** The party at an end of a circuit, as it was judged. */
export function partyOf(
  { identityId, apiSessionId, sessionId, mustPass }: ServiceClaim,
  byReports: boolean,
): CircuitParty {
  return { identityId, apiSessionId, sessionId, mustPass: mustPass || byReports }
}

/** Why there is no way, for the logs of clients: with the service and the instance that were asked for. */
export function failureText(
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
