import type { EngineContext, LinkChange } from '../context/context.ts'
import { RouterCertificates } from '../enrollment/router-certificates.ts'
import type { ControlPlaneOptions } from '../facts/fabric/messages/index.ts'
import { type EdgeRouters, edgeRouters } from '../facts/routers/edge-router.resource.ts'
import { type TransitRouters, transitRouters } from '../facts/routers/transit-router.resource.ts'
import type { ApiSessions } from '../login/api-sessions.ts'
import type { Presence } from '../routers/presence.ts'
import { AnnouncedSessions } from './announced-sessions.ts'
import { ConnectedRouters, Owed } from './channels/connected-routers.ts'
import { Network } from './channels/network.ts'
import { Peers } from './channels/peers.ts'
import { RenewalRequests } from './channels/renewal-requests.ts'
import { RouterInspections } from './channels/router-inspections.ts'
import { AccessLoss } from './circuits/access-loss.ts'
import { CircuitEnds } from './circuits/circuit-end.ts'
import { CircuitSetup } from './circuits/circuit-setup.ts'
import { DialFailures } from './circuits/dial-failures.ts'
import { DialTraces } from './circuits/dial-traces.ts'
import { DirectCircuits } from './circuits/direct-circuits.ts'
import { HostChoice } from './circuits/host-choice.ts'
import { LinkReports } from './circuits/link-reports.ts'
import { OpenCircuits } from './circuits/open-circuits.ts'
import { Rerouting } from './circuits/rerouting.ts'
import { RouteExchange } from './circuits/route-exchange.ts'
import { ServiceRights } from './circuits/service-rights.ts'
import { controllerIdOf } from './controller-id.ts'
import { EndpointPosture } from './endpoint-posture.ts'
import { HostedTerminators } from './hosted-terminators.ts'
import { ModelSubscriptions } from './model/model-subscriptions.ts'
import { ModelValidation } from './model/model-validation.ts'
import { ChannelTracing } from './operators/channel-tracing.ts'
import { DeployedEvents } from './operators/deployed-events.ts'
import { OperatorSessions } from './operators/operator-sessions.ts'
import { CircuitOwners } from './processes/circuit-owners.ts'
import { Relays } from './processes/relays.ts'
import { TerminatorValidation } from './terminator-validation.ts'
import { ControllerValues } from './validations/controller-values.ts'
import { Inspections } from './validations/inspections.ts'
import { RouterComparisons } from './validations/router-comparisons.ts'
import { TerminatorComparisons } from './validations/terminator-comparisons.ts'
import { Validations } from './validations/validations.ts'

/** The parts of the engine that the data plane needs. */
export interface FabricHost {
  readonly context: EngineContext
  readonly apiSessions: ApiSessions
  /** Makes an edge router, as an operator does, that may host and dial for itself. */
  createEdgeRouter(body: { readonly name: string; readonly roleAttributes: readonly string[] }): Promise<unknown>
  /** Routers reach this process and the others over its store at other addresses from now on. */
  moved(addresses: readonly string[]): void
  /** Deletes a router, as an operator does. */
  deleteRouter(resource: EdgeRouters | TransitRouters, id: string): Promise<unknown>
}

/** Puts the parts of the data plane together. */
export function assembleFabric(host: FabricHost, presence: Presence, options: ControlPlaneOptions) {
  const { context, apiSessions } = host
  const routers = new ConnectedRouters()
  const network = new Network(routers)
  const owed = new Owed(context)
  const circuits = new OpenCircuits()
  const exchange = new RouteExchange(context, routers)
  const ends = new CircuitEnds(context, routers, circuits)
  const failures = new DialFailures()
  const traces = new DialTraces(context, network)
  const rights = new ServiceRights(context, apiSessions)
  const { directE2EE } = context.settings
  const direct = directE2EE && new DirectCircuits(context, directE2EE.policy)
  const hosted = new HostedTerminators(context, rights, direct)
  const model = new ModelSubscriptions(context, options.modelCodec)
  const routerInspections = new RouterInspections(context)
  const controllerValues = new ControllerValues({
    id: controllerIdOf(context.digest, options.addresses),
    addresses: options.addresses,
    context,
    presence,
    routers,
    circuits,
    model,
    processReport: options.processReport ?? (() => ''),
  })
  const controllerId = controllerIdOf(context.digest, options.addresses)
  const choice = new HostChoice({ context, rights, routers, network, circuits, direct })
  const inspections = new Inspections(context, routers, controllerValues, routerInspections)
  const modelValidation = new ModelValidation(context, routers, model)
  const terminatorComparisons = new TerminatorComparisons(context, routers, hosted)
  const rerouting = new Rerouting({ context, network, circuits, exchange, ends })
  const links = new LinkReports(context, routers, network, rerouting)
  const owners = new CircuitOwners(context)
  const changeLink = (linkId: string, change: LinkChange) => links.change(linkId, change)
  const relays = new Relays({ context, routers, network, circuits, exchange, ends, owners, traces, changeLink })
  const isOfOther = (circuitId: string) => relays.isOfOther(circuitId)
  const comparisons = new RouterComparisons({ controllerId, context, presence, routers, network, circuits, isOfOther })
  const validations = new Validations({
    controllerId,
    context,
    routers,
    asked: routerInspections,
    model: modelValidation,
    comparisons,
    terminators: terminatorComparisons,
  })
  const tracing = new ChannelTracing(context, routers)
  const events = new DeployedEvents(context, controllerId)
  return {
    context,
    presence,
    apiSessions,
    rights,
    routers,
    network,
    owed,
    peers: new Peers(routers, context.turns),
    links,
    relays,
    circuits,
    exchange,
    choice,
    setup: new CircuitSetup({
      context,
      hosts: choice,
      circuits,
      exchange,
      ends,
      failures,
      traces,
      direct,
      onDeadTerminator: (terminator) => hosted.dead(terminator),
    }),
    ends,
    failures,
    traces,
    accessLoss: new AccessLoss(context, rights, circuits, ends),
    rerouting,
    hosted,
    validation: new TerminatorValidation(context, hosted),
    announced: new AnnouncedSessions(context, routers, owed),
    endpointPosture: new EndpointPosture(context, routers),
    model,
    modelValidation,
    routerInspections,
    inspections,
    terminatorComparisons,
    tracing,
    operators: new OperatorSessions({ context, inspections, validations, events, tracing }),
    certificates: new RouterCertificates(context),
    renewals: new RenewalRequests(context, routers, owed),
    /** Deletes a router at its own wish. */
    decommission: async (routerId: string, isEdgeRouter: boolean) => {
      await host.deleteRouter(isEdgeRouter ? edgeRouters : transitRouters, routerId)
    },
  }
}

/** The parts that the sessions of routers share. */
export type FabricParts = ReturnType<typeof assembleFabric>
