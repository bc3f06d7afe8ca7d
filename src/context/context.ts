import type { BoundedMap } from '../base/collections.ts'
import type { Profile } from '../base/compatibility.ts'
import type { Limits } from '../base/limits.ts'
import type { DialFailure, ServiceReach } from '../facts/access/explain/service-reach.rules.ts'
import type { AccessIndex } from '../facts/access/index/index.ts'
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

/** How much the audit trail keeps. */
export interface AuditSettings {
  /** Milliseconds after which a record is removed. */
  readonly keepMs: number
  /** Bytes of all records; beyond them the oldest are removed. */
  readonly mostBytes: number
  /** Bytes that all those together cause in an hour who have not said who they are. */
  readonly strangerBytesPerHour: number
  /** Bytes that one identity without rights causes in an hour, of each kind of record. */
  readonly endpointBytesPerHour: number
}

export interface EngineSettings {
  /** `host:port` under which devices reach the client API; the issuer of enrollment tokens. */
  readonly address: string
  /** Milliseconds without use after which an API session ends. */
  readonly apiSessionTimeoutMs: number
  /** True when identities may log in by OpenID Connect, and call with access tokens. */
  readonly hasOpenId: boolean
  /** Where clients of the OpenID provider may be sent, unless the settings of the controller say otherwise. */
  readonly openIdUris: { readonly redirectUris: readonly string[]; readonly postLogoutUris: readonly string[] }
  /** Milliseconds for which an access token is good. */
  readonly accessTokenLifetimeMs: number
  /** Milliseconds for which an enrollment token of an identity is good. */
  readonly enrollmentDurationMs: number
  /** Milliseconds for which an enrollment token of a router is good. */
  readonly routerEnrollmentDurationMs: number
  /** Names the network in authenticator apps. */
  readonly totpIssuer: string
  readonly audit: AuditSettings
  /**
   * Milliseconds from one look for keys that other processes over the storage changed to the next; undefined where there is no
   * other process.
   */
  readonly lookForKeysMs: number | undefined
  /** How much may be stored and answered. */
  readonly limits: Limits
  /** Where it does as deployed controllers do. */
  readonly profile: Profile
}

/** Which routers are connected, and whose endpoints are. */
export interface DataPlanePresence {
  /** The routers that are connected to this process, or to another one over the same store as of the snapshot `tx`. */
  at(tx: ReadTransaction): Promise<RouterPresence>
  /** Whether routers are connected to other processes over the same store as of the snapshot `tx`. */
  hasOthers(tx: ReadTransaction): Promise<boolean>
  /** Whether endpoints of an identity are connected to routers of this process. */
  statusOf(identityId: string): IdentityConnectionStatus
  /** Lets go of the routers that a committed write took the right to be connected from. */
  follow(changes: readonly RecordedChange[]): void
}

/** The data plane of this process: empty until it is opened. */
export interface DataPlane {
  /** Where routers reach this process, for example `tls:host:6262`. */
  controlAddresses: readonly string[]
  /** The state that it shows of itself; undefined while it is closed. */
  view: DataPlaneView | undefined
}

/** A change of a link by an operator; it lasts as long as this process knows the link. */
export interface LinkChange {
  /** Milliseconds that it costs beside its latency. */
  readonly staticCost?: number | undefined
  readonly isDown?: boolean | undefined
}

/** The answer of a router that compared its data model with that of this controller. */
export interface ModelComparison {
  /** The revision of the store that was compared. */
  readonly index: number
  /** The first of the differences, at most 1,000; none when the router has what it should have. */
  readonly differences: readonly ModelDifference[]
  readonly differenceCount: number
  /** Parts that the router was not asked to compare, because it would end. */
  readonly notCompared: readonly ModelPart[]
}

/** Figures of the data plane of this process. */
export interface DataPlaneFigures {
  readonly openCircuits: number
  /** Links between routers that are in use. */
  readonly links: number
  /** Milliseconds, of the links that were measured; undefined where none was. */
  readonly latency: { readonly mean: number; readonly max: number } | undefined
  /** Routers that do not decide by the latest data model yet. */
  readonly routersBehind: number
}

/** The data plane of this process, to be shown and to be cut. */
export interface DataPlaneView {
  links(): readonly Link[]
  figures(): DataPlaneFigures
  /** The open circuits that are meant, of every process over the store that answers within 2 s. */
  circuits(question: CircuitQuestion): Promise<readonly CircuitView[]>
  /** Whether a circuit to a service could be laid now from one of some routers, as of the snapshot `tx`. */
  reach(tx: ReadTransaction, service: RecordOf<typeof services>, routerIds: readonly string[]): Promise<ServiceReach>
  /** Why the last dial of an identity to a service failed; undefined where none did, or a later one succeeded. */
  lastFailure(identityId: string, serviceId: string): DialFailure | undefined
  /**
   * The next dial of an identity to a service that begins within `waitMs`, once it is over; undefined where none does. An
   * asker may wait for 8 at once: a further one ends its oldest.
   */
  nextDial(
    question: Pick<DialTrace, 'identityId' | 'serviceId'>,
    waitMs: number,
    asker: string,
  ): Promise<DialTrace | undefined>
  /** The cost of a terminator by use and failures, 0 to 65535. */
  dynamicCostOf(terminatorId: string): number
  /** Sets what a link costs beside its latency, or takes it out of use; false for an unknown one. */
  changeLink(id: string, change: LinkChange): boolean
  /** Both ends close a link, which may be dialed again; false for an unknown one. */
  cutLink(id: string): boolean
  /** Asks a router to compare its data model with one that is read from the store anew. Rejects with `ControllerError`s. */
  validateModel(routerId: string): Promise<ModelComparison>
  /** Asks connected routers and the controller itself for values of their state; at most 10 s. Never rejects. */
  inspect(request: InspectionRequest): Promise<InspectionResult>
  /** Begins a session of an operator's program, with the rights of a call. */
  openOperatorSession(call: Call, channel: OperatorChannel): OperatorSession
  /** Ends a circuit of any process, at once or once it is quiet; false for one that nobody knows who answers within 2 s. */
  endCircuit(id: string, immediate: boolean): Promise<boolean>
}

/** The access index, kept level with the store. */
export interface AccessIndexFeed {
  /** The index as of the snapshot `tx`, or a later one. */
  at(tx: ReadTransaction): Promise<AccessIndex>
  /** Reports whether the index knows exactly what the snapshot holds, and nothing later. */
  isLevelWith(tx: ReadTransaction): boolean
  /** Reports whether an identity gained or lost access after a revision, though it may be as before; false if nobody watched. */
  hasMoved(since: number, identityId: string): boolean
}

/** The stored credentials of an identity, beside its own record. */
export interface IdentityCredentials {
  /** The authenticators by method, as identities show them. */
  readonly authenticators: Readonly<Record<string, Readonly<Record<string, string | null>>>>
  readonly enrollments: readonly RecordOf<typeof enrollments>[]
  /** Whether an enrollment in one-time passwords was completed. */
  readonly isMfaEnabled: boolean
}

/** A feed of the credentials of identities, kept level with the store. */
export interface IdentityCredentialsFeed {
  /** As of the snapshot `tx`, by the ids of identities; the same object as before where nothing changed. */
  of(tx: ReadTransaction, identityIds: readonly string[]): Promise<ReadonlyMap<string, IdentityCredentials>>
}

/** How many records an owner has at most, as far as this process knows, and how many insertions ago they were counted. */
export interface OwnerCount {
  count: number
  since: number
  /** The earliest records when that was last asked for, in order, as far as they have not been ended since. */
  earliest: readonly EarliestRecord[]
}

/** A record and the instant by which it was the earliest. Used again meanwhile, it has another one, and is not it any more. */
interface EarliestRecord {
  readonly id: string
  readonly instant: unknown
}

/** The ports and settings that every engine service works with. */
export interface EngineContext {
  /** Reads; to write there is one way, {@link EngineContext.writes}. */
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
  /** Rules of the host about logins and enrollments. */
  readonly host: HostRules
  readonly logger: Logger
  /** Notices that the clocks of processes over the store differ. */
  readonly otherClocks: OtherClocks
  readonly rateLimiters: RateLimiters
  readonly access: AccessIndexFeed
  readonly credentials: IdentityCredentialsFeed
  readonly timetable: Timetable
  /** The data plane of this process, once it is opened. */
  readonly dataPlane: DataPlane
  readonly turns: Turns
  readonly webhookEndpoints: WebhookEndpoints
  /** The texts of wire forms that stand in several answers. */
  readonly texts: WireTexts
  /** The records of owners of late, by what is limited: counting takes longer the more there are, and most are far from any limit. */
  readonly ownerCounts: BoundedMap<string, OwnerCount>
  readonly settings: EngineSettings
}
