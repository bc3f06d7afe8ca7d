import type { AccessIndex } from '../../domain/access-index/index.ts'
import type { Profile } from '../../domain/compatibility.ts'
import type { Link, ModelDifference, ModelPart, Path } from '../../domain/fabric/index.ts'
import type { Limits } from '../../domain/limits.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Digest } from '../../ports/credentials/digest.ts'
import type { ExternalTokens } from '../../ports/credentials/external-tokens.ts'
import type { PasswordHasher } from '../../ports/credentials/password-hasher.ts'
import type { QrCode } from '../../ports/credentials/qr-code.ts'
import type { Sealer } from '../../ports/credentials/sealer.ts'
import type { Tokens } from '../../ports/credentials/tokens.ts'
import type { Totp } from '../../ports/credentials/totp.ts'
import type { Events } from '../../ports/events.ts'
import type { JsonSchema } from '../../ports/json-schema.ts'
import type { KeySets } from '../../ports/key-sets.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Pki } from '../../ports/pki.ts'
import type { Random } from '../../ports/random.ts'
import type { RateLimiters } from '../../ports/rate-limiter.ts'
import type { IdentityConnectionStatus, RouterPresence } from '../../ports/router-presence.ts'
import type { ReadTransaction, Storage } from '../../ports/storage.ts'
import type { Turns } from '../../ports/turns.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import type { enrollments } from '../../resources/enrollment/enrollments.ts'
import type { OtherClocks } from './other-clocks.ts'
import type { RecordedChange } from './recorded-changes.ts'
import type { Timetable } from './timetable.ts'
import type { Writes } from './writes.ts'

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
  /** What it shows of itself. */
  view: DataPlaneView | undefined
}

/** A circuit as operators see it. */
export interface CircuitView {
  readonly id: string
  /** The identity that dialed. */
  readonly clientId: string
  /** The service session behind it, where there is one. */
  readonly sessionId: string | undefined
  readonly serviceId: string
  readonly terminatorId: string
  readonly path: Path
  readonly tags: Readonly<Record<string, string>>
  /** Epoch ms. */
  readonly createdAt: number
}

/** What an operator may change of a link; it lasts as long as this process knows the link. */
export interface LinkChange {
  /** What it costs beside its latency, milliseconds. */
  readonly staticCost?: number | undefined
  readonly isDown?: boolean | undefined
}

/** What a router answered that was asked to compare its data model with the one of this controller. */
export interface ModelComparison {
  /** The revision of the store that was compared. */
  readonly index: number
  /** The first of the differences, at most 1,000; none when the router has what it should have. */
  readonly differences: readonly ModelDifference[]
  readonly differenceCount: number
  /** What the router was not asked to compare, because it would end. */
  readonly notCompared: readonly ModelPart[]
}

/** The data plane of this process, to be shown and to be cut. */
export interface DataPlaneView {
  links(): readonly Link[]
  circuits(): readonly CircuitView[]
  /** The cost of a terminator by use and failures, 0 to 65535. */
  dynamicCostOf(terminatorId: string): number
  /** Sets what a link costs beside its latency, or takes it out of use; false for an unknown one. */
  changeLink(id: string, change: LinkChange): boolean
  /** Both ends close a link, which may be dialed again; false for an unknown one. */
  cutLink(id: string): boolean
  /** Asks a router to compare its data model with one that is read from the store anew. Rejects with `ControllerError`s. */
  validateModel(routerId: string): Promise<ModelComparison>
  /** Ends a circuit, at once or once it is quiet; false for an unknown one. */
  endCircuit(id: string, immediate: boolean): boolean
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

/** What is stored, beside an identity, of how it authenticates. */
export interface IdentityCredentials {
  /** The authenticators by method, as identities show them. */
  readonly authenticators: Readonly<Record<string, Readonly<Record<string, string | null>>>>
  readonly enrollments: readonly RecordOf<typeof enrollments>[]
  /** Whether an enrollment in one-time passwords was completed. */
  readonly isMfaEnabled: boolean
}

/** What identities authenticate by, kept level with the store. */
export interface IdentityCredentialsFeed {
  /** As of the snapshot `tx`, by the ids of identities; the same object as before where nothing changed. */
  of(tx: ReadTransaction, identityIds: readonly string[]): Promise<ReadonlyMap<string, IdentityCredentials>>
}

/** The ports and settings that every engine service works with. */
export interface EngineContext {
  /** Reads; to write there is one way, {@link EngineContext.writes}. */
  readonly storage: Pick<Storage, 'read' | 'snapshot'>
  readonly writes: Writes
  readonly clock: Clock
  readonly random: Random
  readonly digest: Digest
  readonly pki: Pki
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
  readonly logger: Logger
  /** Notices that the clocks of processes over the store differ. */
  readonly otherClocks: OtherClocks
  readonly rateLimiters: RateLimiters
  readonly access: AccessIndexFeed
  readonly credentials: IdentityCredentialsFeed
  readonly timetable: Timetable
  /** What runs the data plane in this process, once it is opened. */
  readonly dataPlane: DataPlane
  readonly turns: Turns
  readonly settings: EngineSettings
}
