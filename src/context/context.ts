import type { BoundedMap } from '../base/collections.ts'
import type { Profile } from '../base/compatibility.ts'
import type { Limits } from '../base/limits.ts'
import type { DialFailure, ServiceReach } from '../facts/access/explain/service-reach.rules.ts'
import type { AccessIndex } from '../facts/access/index/index.ts'
import type { DirectSettings } from '../facts/data-plane/direct-e2ee.ts'
import type { enrollments } from '../facts/enrollment/enrollment.resource.ts'
import type { CircuitQuestion, CircuitView, OperatorChannel, OperatorSession } from '../facts/fabric/messages/index.ts'
import type {
  DialTrace,
  InspectionRequest,
  InspectionResult,
  Link,
  ModelDifference,
  ModelPart,
} from '../facts/fabric/rules/index.ts'
import type { Events } from '../facts/network/events.ts'
import type { HostRules } from '../facts/network/host-rules.ts'
import type { services } from '../facts/services/service.resource.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import type {
  Digest,
  ExternalTokens,
  KeySets,
  PasswordHasher,
  QrCode,
  Sealer,
  Tokens,
  Totp,
} from '../ports/credentials.ts'
import type { KeySuccession, Pki } from '../ports/pki.ts'
import type { ReadTransaction, Storage } from '../ports/record-storage.ts'
import type { IdentityConnectionStatus, RouterPresence } from '../ports/router-presence.ts'
import type { Clock, JsonSchema, Logger, Random, RateLimiters, Turns } from '../ports/runtime.ts'
import type { WebhookEndpoints } from '../ports/webhook-endpoints.ts'
import type { Call } from './call.ts'
import type { RecordedChange } from './recorded-changes.ts'
import type { OtherClocks, Timetable } from './timetable.ts'
import type { WireTexts } from './wire-texts.ts'
import type { Writes } from './writes.ts'

/** The limits of the audit trail. */
export interface AuditSettings {
  /** Milliseconds after which a record is removed. */
  readonly keepMs: number
  /** Bytes of all records; beyond them the oldest are removed. */
  readonly mostBytes: number
  /** Bytes that all anonymous callers together may cause in an hour. */
  readonly strangerBytesPerHour: number
  /** Bytes that one identity without rights may cause in an hour, for each kind of record. */
  readonly endpointBytesPerHour: number
  /** Bytes that all of them together may cause in an hour. */
  readonly useBytesPerHour: number
}

export interface EngineSettings {
  /** `host:port` under which devices reach the client API; the issuer of enrollment tokens. */
  readonly address: string
  /** Milliseconds without use after which an API session ends. */
  readonly apiSessionTimeoutMs: number
  /** True when identities may log in by OpenID Connect, and call with access tokens. */
  readonly hasOpenId: boolean
  /** The form in which the ends of circuits prove themselves to each other; absent where DirectE2EE is off. Set with the OpenID provider. */
  directE2EE?: DirectSettings
  /** Redirect and logout URIs for clients of the OpenID provider, unless the settings of the controller replace them. */
  readonly openIdUris: { readonly redirectUris: readonly string[]; readonly postLogoutUris: readonly string[] }
  /** Milliseconds for which an access token is valid. */
  readonly accessTokenLifetimeMs: number
  /** Milliseconds for which an enrollment token of an identity is valid. */
  readonly enrollmentDurationMs: number
  /** Milliseconds for which an enrollment token of a router is valid. */
  readonly routerEnrollmentDurationMs: number
  /** The name of the network in authenticator apps. */
  readonly totpIssuer: string
  readonly audit: AuditSettings
  /** When the latest backup was made, as the host knows; null before the first backup. Undefined where the host does not follow backups. */
  readonly latestBackup: (() => Promise<Date | null>) | undefined
  /** Milliseconds between looks for the changed keys and the ended records of other processes over the storage; undefined without these. */
  readonly lookForOthersMs: number | undefined
  /** The limits of storage and answers. */
  readonly limits: Limits
  /** The differences in which this controller follows deployed controllers. */
  readonly profile: Profile
}

/** The presence of routers, and of the endpoints of identities. */
export interface DataPlanePresence {
  /** The routers that are connected to this process, or to other processes over the same store as of the snapshot `tx`. */
  at(tx: ReadTransaction): Promise<RouterPresence>
  /** The same as of the last snapshot that was looked at. */
  lastKnown(): RouterPresence
  /** Reports whether routers are connected to other processes over the same store as of the snapshot `tx`. */
  hasOthers(tx: ReadTransaction): Promise<boolean>
  /** Reports whether endpoints of an identity are connected to routers of this process. */
  statusOf(identityId: string): IdentityConnectionStatus
  /** The identities for which {@link DataPlanePresence.statusOf} answers `online`. */
  onlineIdentities(): Iterable<string>
  /** Disconnects the routers that a committed write deprived of the right to connect. */
  follow(changes: readonly RecordedChange[]): void
}

/** The data plane of this process: empty until it is opened. */
export interface DataPlane {
  /** The addresses at which routers reach this process, for example `tls:host:6262`. */
  controlAddresses: readonly string[]
  /** Its state and operations; undefined while it is closed. */
  view: DataPlaneView | undefined
}

/** A change of a link by an operator, which lasts as long as this process knows the link. */
export interface LinkChange {
  /** Milliseconds that the link costs in addition to its latency. */
  readonly staticCost?: number | undefined
  readonly isDown?: boolean | undefined
}

/** The answer of a router that compared its data model with that of this controller. */
export interface ModelComparison {
  /** The revision of the store that was compared. */
  readonly index: number
  /** The first differences, at most 1,000; empty when the router's data model is right. */
  readonly differences: readonly ModelDifference[]
  readonly differenceCount: number
  /** Parts that the router was not asked to compare, because they would crash it. */
  readonly notCompared: readonly ModelPart[]
}

/** Figures of the data plane of this process. */
export interface DataPlaneFigures {
  readonly openCircuits: number
  /** Links between routers that are in use. */
  readonly links: number
  /** Milliseconds over the measured links; undefined without a measured link. */
  readonly latency: { readonly mean: number; readonly max: number } | undefined
  /** Routers that do not use the latest data model yet. */
  readonly routersBehind: number
}

/** The state and the operations of this process's data plane. */
export interface DataPlaneView {
  links(): readonly Link[]
  figures(): DataPlaneFigures
  /** The open circuits that match a question, of every process over the store that answers within 2 s. */
  circuits(question: CircuitQuestion): Promise<readonly CircuitView[]>
  /** The outlook of a circuit to a service from one of some routers, as of the snapshot `tx`. */
  reach(tx: ReadTransaction, service: RecordOf<typeof services>, routerIds: readonly string[]): Promise<ServiceReach>
  /** The failure of the last dial of an identity to a service; undefined after a success or without a dial. */
  lastFailure(identityId: string, serviceId: string): DialFailure | undefined
  /**
   * The next dial of an identity to a service that begins within `waitMs`, once the dial is over; undefined without such a dial. A caller
   * may wait for 8 dials at once: a further wait ends its oldest.
   */
  nextDial(
    question: Pick<DialTrace, 'identityId' | 'serviceId'>,
    waitMs: number,
    asker: string,
  ): Promise<DialTrace | undefined>
  /** The cost of a terminator by use and failures, 0 to 65535. */
  dynamicCostOf(terminatorId: string): number
  /** Sets the static cost of a link, or takes the link out of use; false for an unknown link. */
  changeLink(id: string, change: LinkChange): boolean
  /** Closes a link at both ends. It may be dialed again. False for an unknown link. */
  cutLink(id: string): boolean
  /** Asks a router to compare its data model with a fresh copy from the store. Rejects with `ControllerError`s. */
  validateModel(routerId: string): Promise<ModelComparison>
  /** Asks connected routers and the controller itself for values of their state; at most 10 s. Never rejects. */
  inspect(request: InspectionRequest): Promise<InspectionResult>
  /** Begins a session of an operator's program, with the rights of a call. */
  openOperatorSession(call: Call, channel: OperatorChannel): OperatorSession
  /** Ends a circuit of any process, at once or when it is idle; false if no process that answers within 2 s knows the circuit. */
  endCircuit(id: string, immediate: boolean): Promise<boolean>
}

/** The access index, kept level with the store. */
export interface AccessIndexFeed {
  /** The index as of the snapshot `tx` or a later snapshot. */
  at(tx: ReadTransaction): Promise<AccessIndex>
  /** Reports whether the index holds exactly the state of the snapshot, and nothing later. */
  isLevelWith(tx: ReadTransaction): boolean
  /**
   * Reports whether an identity gained or lost access after a revision, even if its access is the same again; false if the identity was not
   * watched.
   */
  hasMoved(since: number, identityId: string): boolean
}

/** The credentials of an identity that are stored outside of its record. */
export interface IdentityCredentials {
  /** The authenticators by method, in the wire form of identities. */
  readonly authenticators: Readonly<Record<string, Readonly<Record<string, string | null>>>>
  readonly enrollments: readonly RecordOf<typeof enrollments>[]
  /** True once an enrollment in one-time passwords was completed. */
  readonly isMfaEnabled: boolean
}

/** A feed of the credentials of identities, kept level with the store. */
export interface IdentityCredentialsFeed {
  /** As of the snapshot `tx`, by the ids of identities; the previous object if nothing changed. */
  of(tx: ReadTransaction, identityIds: readonly string[]): Promise<ReadonlyMap<string, IdentityCredentials>>
}

/** An upper estimate of an owner's records by this process, and the number of insertions since they were counted. */
export interface OwnerCount {
  count: number
  since: number
  /** The earliest records as of the last query, in order, without the records that ended since. */
  earliest: readonly EarliestRecord[]
}

/**
 * A record and the instant by which it was among the earliest. A record that was used since has a later instant, and is no longer among
 * them.
 */
interface EarliestRecord {
  readonly id: string
  readonly instant: unknown
}

/** The ports and settings that every engine service works with. */
export interface EngineContext {
  /** Read access. All writes go through {@link EngineContext.writes}. */
  readonly storage: Pick<Storage, 'isVolatile' | 'read' | 'snapshot'>
  readonly writes: Writes
  readonly clock: Clock
  readonly random: Random
  readonly digest: Digest
  readonly pki: Pki
  /** The means to change the keys of the network. */
  readonly keys: KeySuccession
  readonly tokens: Tokens
  readonly jsonSchema: JsonSchema
  readonly passwordHasher: PasswordHasher
  readonly externalTokens: ExternalTokens
  readonly keySets: KeySets
  readonly sealer: Sealer
  readonly totp: Totp
  readonly qrCode: QrCode
  readonly presence: DataPlanePresence
  readonly events: Events
  /** The host's rules for logins and enrollments. */
  readonly host: HostRules
  readonly logger: Logger
  /** Notices that the clocks of processes over the store differ. */
  readonly otherClocks: OtherClocks
  readonly rateLimiters: RateLimiters
  readonly access: AccessIndexFeed
  readonly credentials: IdentityCredentialsFeed
  readonly timetable: Timetable
  /** The data plane of this process, empty until it is opened. */
  readonly dataPlane: DataPlane
  readonly turns: Turns
  readonly webhookEndpoints: WebhookEndpoints
  /** The JSON texts of wire forms that occur in several answers. */
  readonly texts: WireTexts
  /**
   * The records of recent owners, by resource or limit. They are estimated, since counting takes longer the more records there are, and
   * most owners are far from any limit.
   */
  readonly ownerCounts: BoundedMap<string, OwnerCount>
  readonly settings: EngineSettings
}
