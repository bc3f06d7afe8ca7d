import type { Compat, Leniency } from '../base/compatibility.ts'
import type { Limits } from '../base/limits.ts'
import type { AdminCredentials } from '../engine/bootstrap.ts'
import type { DirectPolicy } from '../facts/data-plane/direct-e2ee.ts'
import type { HostDirectory } from '../facts/network/host-directory.ts'
import type { HostHooks } from '../facts/network/host-rules.ts'
import type { HostAuthorization } from '../http/pipeline/authorize.ts'
import type { CorsOptions } from '../http/pipeline/cors.ts'
import type { ModelInput } from '../model/index.ts'
import type { PkiOpening, PkiSource } from '../platform/pki-material.ts'
import type { RateLimitOptions } from '../platform/rate-limits.ts'
import type { KeyStore } from '../platform/sealed-key-store.ts'
import type { KeySets, PasswordHasher } from '../ports/credentials.ts'
import type { Storage } from '../ports/record-storage.ts'
import type { RouterPresence } from '../ports/router-presence.ts'
import type { Clock, JsonSchema, Logger, Random, Scheduler } from '../ports/runtime.ts'
import type { Telemetry } from '../ports/telemetry.ts'
import type { JoinableStorage } from './joint-writes.ts'

/**
 * Options that a host decides. The members of {@link Leniency} are strict by default; each may be loosened by itself, and
 * `compat` loosens all that are not given.
 */
export interface ControllerOptions extends Partial<Leniency> {
  /**
   * Behaves as deployed controllers do wherever this one is stricter by default, and in what no option decides: the README lists all of it.
   */
  readonly compat?: Compat
  /** Where records are kept. */
  readonly storage: Storage | JoinableStorage
  /** `host:port` under which devices reach the controller, an IPv6 host in brackets; it stands in enrollment tokens. */
  readonly address: string
  /**
   * The network as a model describes it (`portcullis/model`): the name of a YAML or JSON file, a text in YAML, or an object. The start applies it as
   * `Controller.apply` does, and rejects with `ModelError` or `AssertionsFailed`, a line for each mistake, where that cannot be done. Later
   * starts change what differs from it. Processes over one store take turns. Default: the network stays as it is.
   *
   * @example
   * const model = { services: [{ name: 'wiki' }], identities: [{ name: 'laptop', roleAttributes: ['staff'] }] }
   */
  readonly model?: ModelInput
  /**
   * Whether the start deletes entities that `model` lacks, of every kind that it has any of. The last administrator, the default auth policy
   * and identities of routers stay. Default: false.
   */
  readonly prune?: boolean
  /** The default admin, created in a store that has none; never overwritten. */
  readonly admin?: AdminCredentials
  /**
   * Certificates and keys, or the promise of them, such as `openPkiDirectory(directory)` of `portcullis/node`; a key is PEM text, a
   * WebCrypto key or a signer of the host's own (an HSM, a KMS). Without them a network of its own is made up, which lasts as long as
   * this process: over a storage that outlives it, devices that enrolled are locked out from the next start on. The controller logs a
   * warning then, and for a server certificate that does not name the host of `address`.
   */
  readonly pki?: PkiSource | Promise<PkiSource> | PkiOpening
  /** The trust domain of issued SPIFFE ids; by default that of the certificates. */
  readonly trustDomain?: string
  /** Milliseconds without use after which an API session ends. Default: 30 minutes. */
  readonly apiSessionTimeoutMs?: number
  /** Milliseconds for which an enrollment token is valid. Default: 180 minutes. */
  readonly enrollmentDurationMs?: number
  /** Milliseconds for which an enrollment token of a router is valid. Default: `enrollmentDurationMs`. */
  readonly routerEnrollmentDurationMs?: number
  /**
   * 32 bytes that encrypt secrets that must be shown again: MFA secrets and recovery codes. By default they follow from the signing key
   * of `pki`. Where that key is held elsewhere, a key is made up, and identities with MFA must enroll in it again after a restart.
   */
  readonly secretsKey?: Uint8Array
  /**
   * Where the private keys are kept that `POST /pki/rotations` makes, such as a key management service. Default: in the storage,
   * sealed by `secretsKey`; where that is made up, no key can be changed.
   */
  readonly keyStore?: KeyStore
  /** Fetches key sets in another way than over HTTP. */
  readonly keySets?: KeySets
  /** Names the network in authenticator apps. Default: `openziti.io`, as deployed controllers do. */
  readonly totpIssuer?: string
  /** The version that clients read, with a leading `v`; some choose their behaviour by it. Default: this package's. */
  readonly reportedVersion?: string
  /** Answers which edge routers are connected, beside the routers that are reported to `controller.presence`. */
  readonly presence?: RouterPresence
  /** A rule of the host's own on top of the declared access; a refusal answers 403. */
  readonly authorize?: HostAuthorization
  /**
   * Rules of the host about logins and enrollments, and its actions after changes.
   *
   * @example
   * import type { HostHooks } from 'portcullis'
   * const hooks: HostHooks = { beforeLogin: ({ method }) => method !== 'password' }
   */
  readonly hooks?: HostHooks
  /**
   * A directory of the host. It gives identities role attributes, in addition to the stored role attributes, and may disable identities. It
   * is asked at logins, after changes that it reports, and before its answers run out. Give each process over one storage the same.
   * Default: none.
   *
   * @example
   * import type { HostDirectory } from 'portcullis'
   * const groups = new Map([['anna', ['staff']]])
   * const directory: HostDirectory = { attributesOf: async ({ externalId }) => groups.get(externalId ?? '') }
   */
  readonly directory?: HostDirectory
  /**
   * Refuses bodies with a member that the operation does not know: 400 `COULD_NOT_VALIDATE` naming it, so that a
   * misspelled `postureCheckRoles` makes no policy without posture checks. Default: `false`, as deployed controllers
   * do: unknown members are dropped. Clients that send back the answers that they have read need that.
   */
  readonly refuseUnknownMembers?: boolean
  /** How often callers may ask; `false` lets them as often as they like. Default: as {@link RateLimitOptions} says. */
  readonly rateLimits?: RateLimitOptions | false
  /** How much may be stored and answered. Default: as {@link Limits} says; a limit that is not given keeps its default. */
  readonly limits?: Partial<Limits>
  /**
   * Answers when the latest backup of the storage was made, or null while no backup was made. `GET /findings` names a backup that is two days
   * old. Default: the controller knows of no backups, and judges none.
   *
   * @example
   * import { stat } from 'node:fs/promises'
   * import type { ControllerOptions } from 'portcullis'
   * const latestBackup: ControllerOptions['latestBackup'] = async () => (await stat('/backup/latest.sqlite')).mtime
   */
  readonly latestBackup?: () => Promise<Date | null>
  /** How much the audit trail keeps. Default: as {@link AuditOptions} says. */
  readonly audit?: AuditOptions
  /**
   * Where webhooks may lead. Default: to public addresses alone, by https. `false` sends nothing: events are kept until a process
   * sends them.
   */
  readonly webhooks?: WebhookOptions | false
  /** Which pages of other origins may call the APIs from a browser. Default: none. */
  readonly cors?: CorsOptions
  /**
   * Logins by OpenID Connect, below `/oidc`, and API sessions that are made of tokens, which SDKs prefer. Default: on.
   * `false` turns them off; then nothing of it is loaded.
   */
  readonly oidc?: OpenIdOptions | false
  /**
   * Lets the two ends of a circuit prove themselves to each other (DirectE2EE, which OpenZiti has not settled: `docs/sdk.md`). It needs the
   * OpenID provider. `permissive` lets ends that both ask for it do so; `directOnly` also refuses to dial and to host services with
   * `encryptionRequired` in any other way. Default: off.
   *
   * @example
   * import type { ControllerOptions } from 'portcullis'
   * const options: Pick<ControllerOptions, 'directE2EE'> = { directE2EE: 'permissive' }
   */
  readonly directE2EE?: DirectPolicy
  /**
   * Answers `GET /healthz`, `/readyz` and `/metrics` (Prometheus), to every client that reaches the controller. `/readyz` is 503 while
   * the storage is away or full, and until the access index is built, which begins at the start. Default: `false`.
   */
  readonly probes?: boolean
  /**
   * Answers the reference of all operations below `/portcullis/docs`, to every client that reaches the controller:
   * pages without scripts. Default: `false`, and nothing of it is loaded.
   */
  readonly apiPage?: boolean
  /** Where spans and figures go, such as `openTelemetry()` of `portcullis/opentelemetry`. Default: nowhere. */
  readonly telemetry?: Telemetry
  /** Default: the clock of the system. */
  readonly clock?: Clock
  /** Wakes the controller at instants of the clock. Default: timers of the host, which hold no process alive. */
  readonly scheduler?: Scheduler
  /** Makes ids and one-time tokens. Default: the random numbers of the runtime. */
  readonly random?: Random
  /** Default: Argon2id, of the runtime where it has it (Node 24.7 and later), else in WebAssembly. */
  readonly passwordHasher?: PasswordHasher
  /**
   * Judges configs by the schemas of their types. Default: ajv, which makes code out of schemas. Runtimes that refuse
   * `new Function`, such as Workers, need another implementation.
   */
  readonly jsonSchema?: JsonSchema
  /** Default: a line of JSON for each entry, on standard error. */
  readonly logger?: Logger
}

/** How much the audit trail keeps; an option that is not given has its default. */
export interface AuditOptions {
  /** Milliseconds after which a record is removed, a minute at least. Default: 365 days. */
  readonly keepMs?: number
  /**
   * Bytes of all records; beyond them the oldest are removed. Default: 1 GiB, and 32 MiB where the storage does not outlive the process.
   */
  readonly mostBytes?: number
  /**
   * Bytes that refused logins of unknown clients may cause in an hour, all together; the trail only counts the logins
   * beyond. Default: 256 KiB.
   */
  readonly strangerBytesPerHour?: number
  /** The same of one identity without rights, for each kind of record. Default: 256 KiB. */
  readonly endpointBytesPerHour?: number
  /**
   * The same of all identities without rights together: each has an equal share, so that their logins and sessions do not push changes
   * out. Default: 1 MiB, by which the default of `mostBytes` lasts for a month.
   */
  readonly useBytesPerHour?: number
}

/** Choices of a host about webhooks. */
export interface WebhookOptions {
  /**
   * Addresses and subnets inside of the host's own networks that webhooks may lead to, also in the clear, such as `10.1.0.0/16`. A
   * name is judged by the addresses that it has when the connection is made. Link-local addresses, behind which clouds keep
   * credentials, are never allowed. Default: none.
   */
  readonly allow?: readonly string[]
}

/** Choices of a host about logins by OpenID Connect. */
export interface OpenIdOptions {
  /**
   * The issuers of tokens that are issued and accepted, such as `https://ctrl.example:1280/oidc`: every address under
   * which clients reach the controller. A request's `Host` only chooses among them. Default: `address`, and the names
   * of the server certificate, at its port and at `ports`.
   */
  readonly issuers?: readonly string[]
  /** Further ports under which clients reach the controller, beside that of `address`. */
  readonly ports?: readonly number[]
  /** Milliseconds for which an access token is valid, a minute at least. Default: 30 minutes. */
  readonly accessTokenLifetimeMs?: number
  /** Milliseconds for which an id token is valid, a minute at least. Default: 30 minutes. */
  readonly idTokenLifetimeMs?: number
  /** Milliseconds for which a refresh token is valid, a minute more than an access token at least. Default: 24 hours. */
  readonly refreshTokenLifetimeMs?: number
  /**
   * Where clients may be sent after a login: exactly these URIs; `*` may stand for the port of `localhost`, `127.0.0.1` or
   * `[::1]`. Default: `openziti://auth/callback`, and `/auth/callback` of `localhost` and `127.0.0.1` at any port.
   * `/controller-settings` changes it while the controller runs.
   */
  readonly redirectUris?: readonly string[]
  /** Where clients may be sent after a logout, literally. Default: as `redirectUris`, with `/auth/logout`. */
  readonly postLogoutUris?: readonly string[]
}
