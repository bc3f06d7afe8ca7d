import type { ControlPlaneOptions } from '../../ports/fabric/index.ts'
import { type EdgeRouters, edgeRouters } from '../../resources/routers/edge-routers.ts'
import { type TransitRouters, transitRouters } from '../../resources/routers/transit-routers.ts'
import type { EngineContext } from '../context/context.ts'
import { RouterCertificates } from '../enrollment/router-certificates.ts'
import type { ApiSessions } from '../login/api-sessions.ts'
import type { Presence } from '../routers/presence.ts'
import { AccessLoss } from './circuits/access-loss.ts'
import { CircuitEnds } from './circuits/circuit-end.ts'
import { CircuitSetup } from './circuits/circuit-setup.ts'
import { LinkReports } from './circuits/link-reports.ts'
import { OpenCircuits } from './circuits/open-circuits.ts'
import { Rerouting } from './circuits/rerouting.ts'
import { RouteExchange } from './circuits/route-exchange.ts'
import type { FabricParts } from './fabric-parts.ts'
import { ModelSubscriptions } from './model/model-subscriptions.ts'
import { ModelValidation } from './model/model-validation.ts'
import { ServiceRights } from './rights/service-rights.ts'
import { ConnectedRouters } from './routers/connected-routers.ts'
import { Network } from './routers/network.ts'
import { Owed } from './routers/owed.ts'
import { Peers } from './routers/peers.ts'
import { AnnouncedSessions } from './sessions/announced-sessions.ts'
import { HostedTerminators } from './terminators/hosted-terminators.ts'
import { TerminatorValidation } from './terminators/terminator-validation.ts'

/** What the data plane needs of the engine. */
export interface FabricHost {
  readonly context: EngineContext
  readonly apiSessions: ApiSessions
  /** Deletes a router, as an operator does. */
  deleteRouter(resource: EdgeRouters | TransitRouters, id: string): Promise<unknown>
}

/** Puts the parts of the data plane together. */
export function assembleFabric(host: FabricHost, presence: Presence, options: ControlPlaneOptions): FabricParts {
  const { context, apiSessions } = host
  const routers = new ConnectedRouters()
  const network = new Network(routers)
  const owed = new Owed(context)
  const circuits = new OpenCircuits()
  const exchange = new RouteExchange(context, routers)
  const ends = new CircuitEnds(context, routers, circuits)
  const rights = new ServiceRights(context, apiSessions)
  const hosted = new HostedTerminators(context, rights)
  const model = new ModelSubscriptions(context, options.modelCodec)
  const rerouting = new Rerouting({ context, network, circuits, exchange, ends })
  return {
    context,
    presence,
    apiSessions,
    rights,
    routers,
    network,
    owed,
    peers: new Peers(routers, context.turns),
    links: new LinkReports(context, routers, network, rerouting),
    circuits,
    exchange,
    setup: new CircuitSetup({
      context,
      rights,
      routers,
      network,
      circuits,
      exchange,
      ends,
      onDeadTerminator: (terminator) => hosted.dead(terminator),
    }),
    ends,
    accessLoss: new AccessLoss(context, rights, circuits, ends),
    rerouting,
    hosted,
    validation: new TerminatorValidation(context, hosted),
    announced: new AnnouncedSessions(context, routers, owed),
    model,
    modelValidation: new ModelValidation(context, routers, model),
    certificates: new RouterCertificates(context),
    decommission: async (routerId, isEdgeRouter) => {
      await host.deleteRouter(isEdgeRouter ? edgeRouters : transitRouters, routerId)
    },
  }
}
