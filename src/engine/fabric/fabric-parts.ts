import type { EngineContext } from '../context/context.ts'
import type { RouterCertificates } from '../enrollment/router-certificates.ts'
import type { ApiSessions } from '../login/api-sessions.ts'
import type { Presence } from '../routers/presence.ts'
import type { AccessLoss } from './circuits/access-loss.ts'
import type { CircuitEnds } from './circuits/circuit-end.ts'
import type { CircuitSetup } from './circuits/circuit-setup.ts'
import type { LinkReports } from './circuits/link-reports.ts'
import type { OpenCircuits } from './circuits/open-circuits.ts'
import type { Rerouting } from './circuits/rerouting.ts'
import type { RouteExchange } from './circuits/route-exchange.ts'
import type { ModelSubscriptions } from './model/model-subscriptions.ts'
import type { ModelValidation } from './model/model-validation.ts'
import type { ServiceRights } from './rights/service-rights.ts'
import type { ConnectedRouters } from './routers/connected-routers.ts'
import type { Network } from './routers/network.ts'
import type { Owed } from './routers/owed.ts'
import type { Peers } from './routers/peers.ts'
import type { AnnouncedSessions } from './sessions/announced-sessions.ts'
import type { HostedTerminators } from './terminators/hosted-terminators.ts'
import type { TerminatorValidation } from './terminators/terminator-validation.ts'

/** What the sessions of routers share. */
export interface FabricParts {
  readonly context: EngineContext
  readonly presence: Presence
  readonly apiSessions: ApiSessions
  readonly rights: ServiceRights
  readonly routers: ConnectedRouters
  readonly network: Network
  readonly owed: Owed
  readonly peers: Peers
  readonly links: LinkReports
  readonly circuits: OpenCircuits
  readonly exchange: RouteExchange
  readonly setup: CircuitSetup
  readonly ends: CircuitEnds
  readonly accessLoss: AccessLoss
  readonly rerouting: Rerouting
  readonly hosted: HostedTerminators
  readonly validation: TerminatorValidation
  readonly announced: AnnouncedSessions
  readonly model: ModelSubscriptions
  readonly modelValidation: ModelValidation
  readonly certificates: RouterCertificates
  /** Deletes a router at its own wish. */
  readonly decommission: (routerId: string, isEdgeRouter: boolean) => Promise<void>
}
