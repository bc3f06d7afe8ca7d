import { type Compat, type Leniency, leniencyOf, profileOf } from './domain/compatibility.ts'
import { requireAddress } from './domain/controller-address.ts'
import { type Limits, limitsOf } from './domain/limits.ts'
import { DEFAULT_POST_LOGOUT_URIS, DEFAULT_REDIRECT_URIS } from './domain/oidc/redirect-uri.ts'
import { requireInRange } from './domain/option-range.ts'
import { AccessFeed } from './engine/access/access-feed.ts'
import { resume } from './engine/access/enforcement/resume.ts'
import { type AdminCredentials, bootstrap } from './engine/bootstrap.ts'
import type { OpenIdUris } from './engine/configs/controller-settings.ts'
import { Timetable } from './engine/context/timetable.ts'
import { Writes } from './engine/context/writes.ts'
import { publishSigningKey } from './engine/credentials/signing-keys.ts'
import { ControllerEngine } from './engine/engine.ts'
import { Presence } from './engine/routers/presence.ts'
import { APIS } from './http/api.ts'
import { apiDocuments } from './http/documents.ts'
import { answerHeaders } from './http/pipeline/answer/answer-headers.ts'
import type { ControllerFetch } from './http/pipeline/connection.ts'
import { type CorsOptions, withCors } from './http/pipeline/cors.ts'
import type { OpenIdApi } from './http/pipeline/handler.ts'
import { createHandler } from './http/pipeline/handler.ts'
import type { HostAuthorization } from './http/pipeline/host-authorization.ts'
import type { OpenIdOptions } from './open-id-options.ts'
import { createSealer } from './platform/aes-gcm-sealer.ts'
import { createPasswordHasher } from './platform/argon2-password-hasher.ts'
import { createConsoleLogger } from './platform/console-logger.ts'
import { eventLoopTurns } from './platform/event-loop-turns.ts'
import { createAjvJsonSchema } from './platform/json-schema/ajv-json-schema.ts'
import { createJwtTokens } from './platform/jwt-tokens.ts'
import { createExternalTokens } from './platform/key-sets/external-jwts.ts'
import { createHttpKeySets } from './platform/key-sets/http-key-sets.ts'
import { createEvents } from './platform/mitt-events.ts'
import { otplibTotp } from './platform/otplib-totp.ts'
import { createPkiMaterial, type PkiMaterial } from './platform/pki-material.ts'
import type { PkiSource, ServerCertificateSource } from './platform/pki-source.ts'
import { pngQrCode } from './platform/qr-code/png-qr-code.ts'
import { createRateLimiters, type RateLimitOptions } from './platform/rate-limiter/rate-limits.ts'
import { deriveSecretsKey } from './platform/secrets-key.ts'
import { ServerCredentials } from './platform/server-credentials.ts'
import { createDigest } from './platform/sha256-digest.ts'
import { systemClock } from './platform/system-clock.ts'
import { systemRandom } from './platform/system-random.ts'
import { createScheduler } from './platform/system-scheduler.ts'
import { createX509Pki } from './platform/x509-pki.ts'
import type { Clock } from './ports/clock.ts'
import type { Events } from './ports/events.ts'
import type { ControlPlane, ControlPlaneOptions } from './ports/fabric/index.ts'
import type { KeySets } from './ports/key-sets.ts'
import type { Logger } from './ports/logger.ts'
import type { PasswordHasher } from './ports/password-hasher.ts'
import type { Random } from './ports/random.ts'
import type { HostedPresence, RouterPresence } from './ports/router-presence.ts'
import type { Scheduler } from './ports/scheduler.ts'
import type { Storage } from './ports/storage.ts'
import { VERSION } from './version.ts'

/**
 * What a host decides. The members of {@link Leniency} are strict by default; each may be loosened by itself, and `compat`
 * loosens all that are not given:
 *
 * | Option | Default | `compat: 'openziti'` |
 * |---|---|---|
 * | `allowTotpReuse` | `false` | `true` |
 * | `allowUnlimitedCodes` | `false` | `true` |
 * | `allowUnlimitedLogins` | `false` | `true` |
 * | `allowPrivateJwks` | `false` | `true` |
 * | `allowWeakPasswords` | `false` | `true` |
 * | `allowSelfDeletion` | `false` | `true` |
 * | `allowTokensOfOthers` | `false` | `true` |
 * | `keepSessionsOnPasswordChange` | `false` | `true` |
 * | `recoveryCodeLength` | `10` | `6` |
 */
export interface ControllerOptions extends Partial<Leniency> {
  /** Behaves as deployed controllers do wherever this one is stricter by default. */
  readonly compat?: Compat
  /** Where records are kept. */
  readonly storage: Storage
  /** `host:port` under which devices reach the controller, an IPv6 host in brackets; it stands in enrollment tokens. */
  readonly address: string
  /** The default admin, created in a store that has none; never overwritten. */
  readonly admin?: AdminCredentials
  /**
   * Certificates and keys; a key is PEM text, a WebCrypto key or a signer of the host's own (an HSM, a KMS). Without them a
   * network of its own is made up, which lasts as long as this process.
   */
  readonly pki?: PkiSource
  /** The trust domain of issued SPIFFE ids; by default the one that the certificates name. */
  readonly trustDomain?: string
  /** Milliseconds without use after which an API session ends. Default: 30 minutes. */
  readonly apiSessionTimeoutMs?: number
  /** Milliseconds for which an enrollment token is good. Default: 180 minutes. */
  readonly enrollmentDurationMs?: number
  /**
   * 32 bytes that encrypt what must be shown again: MFA secrets and recovery codes. Without it they follow from the signing
   * key of `pki`; where that is held elsewhere a key is made up, and who has MFA must enroll again after a restart.
   */
  readonly secretsKey?: Uint8Array
  /** Fetches key sets in another way than over HTTP. */
  readonly keySets?: KeySets
  /** Names the network in authenticator apps. Default: `openziti.io`, as deployed controllers do. */
  readonly totpIssuer?: string
  /** The version that clients read, with a leading `v`; some choose their behaviour by it. Default: this package's. */
  readonly reportedVersion?: string
  /** Tells which edge routers are connected, beside those that are reported to {@link Controller.presence}. */
  readonly presence?: RouterPresence
  /** A rule of the host's own on top of the declared access; a refusal answers 403. */
  readonly authorize?: HostAuthorization
  /** How often callers may ask; `false` lets them as often as they like. Default: as {@link RateLimitOptions} says. */
  readonly rateLimits?: RateLimitOptions | false
  /** How much may be stored and answered. Default: as {@link Limits} says; what is not given keeps its default. */
  readonly limits?: Partial<Limits>
  /** Which pages of other origins may call the APIs from a browser. Default: none. */
  readonly cors?: CorsOptions
  /**
   * Logins by OpenID Connect, below `/oidc`, and API sessions that are made of tokens, which SDKs prefer. Default: on.
   * `false` turns them off; then nothing of it is loaded.
   */
  readonly oidc?: OpenIdOptions | false
  /** Default: the clock of the system. */
  readonly clock?: Clock
  /** Wakes the controller at instants of the clock. Default: timers of the host, which hold no process alive. */
  readonly scheduler?: Scheduler
  /** Makes ids and one-time tokens. Default: the random numbers of the runtime. */
  readonly random?: Random
  /** Default: Argon2id. */
  readonly passwordHasher?: PasswordHasher
  /** Default: a line of JSON for each entry, on standard error. */
  readonly logger?: Logger
}

/** A zero-trust network controller, ready to be mounted. */
export interface Controller {
  /** Answers requests of both APIs; mount it in any framework. */
  readonly fetch: ControllerFetch
  /** The headers of every answer; an adapter gives them with what it refuses before the controller sees it. */
  readonly answerHeaders: Readonly<Record<string, string>>
  /** The rules and records behind the APIs, for a host that calls them directly. */
  readonly engine: ControllerEngine
  /** What happens, told after it is committed. */
  readonly events: Pick<Events, 'on'>
  /** Where a host that runs edge routers reports them, and hears which it has to let go of. */
  readonly presence: HostedPresence
  /** True when there is a default admin: one that this start created, or an earlier one. */
  readonly hasAdmin: boolean
  /** True when the default admin is an earlier one whose credentials are not those of {@link ControllerOptions.admin}. */
  readonly hasOtherAdmin: boolean
  /**
   * The TLS server certificate chain and its key, PEM, for a server that terminates TLS itself. Throws when the key is
   * held elsewhere and has no PEM form: then whoever terminates TLS has to have it.
   */
  tls(): { readonly cert: string; readonly key: string }
  /**
   * Puts a renewed server certificate in use: tokens are signed with its key from now on, those of the one before stay
   * good. A server in front has to be told as well (`replaceCertificate`). Rejects, and changes nothing, when the key does
   * not belong to the certificate.
   */
  replaceServerCertificate(source: ServerCertificateSource): Promise<void>
  /**
   * Changes the `host:port` under which devices reach the controller, for a host that learns its port by binding it. Tokens
   * that are made from now on name it, and logins by OpenID Connect begin there unless `oidc.issuers` says otherwise; tokens
   * that name the address of before stay as they are. Throws, and changes nothing, when it is no address.
   *
   * @example
   * const server = await serve(controller, { port: 0 })
   * controller.changeAddress(`controller.example.org:${server.port}`)
   */
  changeAddress(address: string): void
  /** The network's trust bundle, PEM: what clients verify the server with. */
  readonly caPem: string
  /**
   * Opens the data plane: what speaks the wire of routers calls it once, as `serve` of `portcullis/node` does with `fabric`.
   * Enrollment tokens of routers tell its addresses from then on. Rejects when it is open already.
   */
  openFabric(options: ControlPlaneOptions): Promise<ControlPlane>
  /** Stops what the controller does by itself and closes the storage. */
  close(): Promise<void>
}

const MINUTE_MS = 60_000
/** Beyond it instants could not be told any more. */
const CENTURY_MS = 100 * 365 * 24 * 60 * MINUTE_MS

/**
 * Builds a controller: checks the certificates, fills an empty store with what every controller has, and offers both APIs
 * as one function. Rejects with a message that names the option when it cannot be used: a certificate that is missing or
 * whose key belongs to another, an address without port, a number out of range.
 */
export async function createController(options: ControllerOptions): Promise<Controller> {
  const address = requireAddress(options.address)
  const clock = options.clock ?? systemClock
  const random = options.random ?? systemRandom
  const logger = options.logger ?? createConsoleLogger()
  const pki = options.pki ?? (await ephemeralPki(options, clock))
  const server = await ServerCredentials.open(pki)
  const trustDomain = options.trustDomain === undefined ? {} : { trustDomain: options.trustDomain }
  const leniency = leniencyOf(options)
  const profile = profileOf(options.compat)
  requireInRange('recoveryCodeLength', leniency.recoveryCodeLength, 6, 100)
  const keySets = options.keySets ?? createHttpKeySets({ allowInternal: leniency.allowPrivateJwks })
  const events = createEvents(logger)
  const timetable = new Timetable({ clock, logger, scheduler: options.scheduler ?? createScheduler(clock) })
  const { storage, presence: elsewhere } = options
  const limits = limitsOf(options.limits)
  const writes = new Writes(storage, limits, clock)
  const processId = random.uuid()
  const presence = new Presence({ storage, writes, clock, events, logger, timetable, processId, elsewhere })
  const settings = {
    address,
    apiSessionTimeoutMs: durationOf('apiSessionTimeoutMs', options, 30 * MINUTE_MS),
    enrollmentDurationMs: durationOf('enrollmentDurationMs', options, 180 * MINUTE_MS),
    accessTokenLifetimeMs: accessTokenLifetimeOf(options),
    hasOpenId: options.oidc !== false,
    openIdUris: openIdUrisOf(options),
    totpIssuer: options.totpIssuer ?? 'openziti.io',
    limits,
    profile,
    ...leniency,
  }
  const engine = new ControllerEngine({
    storage,
    writes,
    clock,
    random,
    digest: await createDigest(),
    pki: await createX509Pki(pki, { ...trustDomain, server }),
    tokens: createJwtTokens(server),
    jsonSchema: createAjvJsonSchema(),
    passwordHasher: options.passwordHasher ?? createPasswordHasher(),
    externalTokens: createExternalTokens(keySets, profile),
    keySets,
    sealer: await createSealer(options.secretsKey ?? (await deriveSecretsKey(pki))),
    totp: otplibTotp,
    qrCode: pngQrCode,
    presence,
    events,
    logger,
    rateLimiters: createRateLimiters(options.rateLimits ?? {}, clock, leniency.allowUnlimitedLogins),
    access: new AccessFeed(
      eventLoopTurns,
      (change) => events.emit('access.changed', { ...change, at: clock.now() }),
      () => options.storage.read(async (tx) => tx.revision),
    ),
    timetable,
    dataPlane: { controlAddresses: [], view: undefined },
    turns: eventLoopTurns,
    settings,
  })
  const defaultAdmin = await bootstrap(engine.context, options.admin)
  await resume(engine.context)
  await engine.revocations.resume()
  await publishSigningKey(engine.context)
  const version = options.reportedVersion ?? `v${VERSION}`
  const versionFacts = { version, revision: 'portcullis', buildDate: '', runtimeVersion: 'portcullis' }
  const identity = { instanceId: processId, version }
  const fetch = createHandler(
    engine,
    { ...APIS, openid: await openIdOf(engine, options) },
    {
      authorize: options.authorize,
      limits,
      profile,
      logger,
      newRequestId: () => random.id(),
      documents: () => apiDocuments(VERSION),
      versionFacts,
      ...identity,
    },
  )
  return {
    fetch: withCors(fetch, options.cors?.origins ?? []),
    answerHeaders: answerHeaders(identity),
    engine,
    events: { on: events.on },
    presence,
    hasAdmin: defaultAdmin.hasAdmin,
    hasOtherAdmin: defaultAdmin.hasOtherCredentials,
    tls: () => server.tls(),
    replaceServerCertificate: async (source) => {
      await server.replace(source)
      await publishSigningKey(engine.context)
    },
    changeAddress: (next) => {
      settings.address = requireAddress(next)
    },
    caPem: engine.network.caPem,
    openFabric: (fabricOptions) => openFabric(engine, presence, fabricOptions),
    close: async () => {
      await timetable.close()
      await presence.close()
      await storage.close()
    },
  }
}

/** Loaded when it is asked for: a controller without routers needs nothing of it. */
async function openFabric(
  engine: ControllerEngine,
  presence: Presence,
  options: ControlPlaneOptions,
): Promise<ControlPlane> {
  const { dataPlane } = engine.context
  if (dataPlane.controlAddresses.length > 0) throw new Error('the fabric of this controller is open already')
  dataPlane.controlAddresses = options.addresses
  await presence.open(options.addresses[0] ?? '')
  const { Fabric } = await import('./engine/fabric/fabric.ts')
  const fabric = new Fabric(engine, presence, options)
  dataPlane.view = fabric
  return fabric
}

/** Loads the OpenID provider, where it is on. */
async function openIdOf(engine: ControllerEngine, { oidc = {} }: ControllerOptions): Promise<OpenIdApi | undefined> {
  if (oidc === false) return undefined
  const { openProvider } = await import('./open-id-provider.ts')
  return openProvider(engine, oidc)
}

function openIdUrisOf({ oidc }: ControllerOptions): OpenIdUris {
  const { redirectUris = DEFAULT_REDIRECT_URIS, postLogoutUris = DEFAULT_POST_LOGOUT_URIS } = oidc || {}
  return { redirectUris, postLogoutUris }
}

function accessTokenLifetimeOf({ oidc }: ControllerOptions): number {
  const lifetimeMs = (oidc === false ? undefined : oidc?.accessTokenLifetimeMs) ?? 30 * MINUTE_MS
  return requireInRange('oidc.accessTokenLifetimeMs', lifetimeMs, MINUTE_MS, CENTURY_MS)
}

function ephemeralPki(options: ControllerOptions, clock: Clock): Promise<PkiMaterial> {
  const host = new URL(`https://${options.address}`).hostname.replace(/^\[|\]$/g, '')
  const hosts = [...new Set([host, 'localhost', '127.0.0.1'])]
  return createPkiMaterial({ hosts, trustDomain: options.trustDomain ?? 'portcullis.internal', now: clock.now() })
}

function durationOf(
  name: 'apiSessionTimeoutMs' | 'enrollmentDurationMs',
  options: ControllerOptions,
  otherwise: number,
): number {
  return requireInRange(name, options[name] ?? otherwise, 1, CENTURY_MS)
}
