import { checkControllerOptions } from './check-options.ts'
import type { ControllerOptions } from './controller-options.ts'
import { type Profile, profileOf } from './domain/compatibility.ts'
import { hostOf, requireAddress } from './domain/controller-address.ts'
import { type Limits, limitsOf } from './domain/limits.ts'
import { DEFAULT_POST_LOGOUT_URIS, DEFAULT_REDIRECT_URIS } from './domain/oidc/redirect-uri.ts'
import { requireInRange } from './domain/option-range.ts'
import { AccessFeed } from './engine/access/access-feed.ts'
import { AccessMoves } from './engine/access/access-moves.ts'
import type { OpenIdUris } from './engine/configs/controller-settings.ts'
import { OtherClocks } from './engine/context/other-clocks.ts'
import { Timetable } from './engine/context/timetable.ts'
import { Writes } from './engine/context/writes.ts'
import { ControllerEngine } from './engine/engine.ts'
import { CredentialsFeed } from './engine/identities/identity-credentials.ts'
import { Presence } from './engine/routers/presence.ts'
import { createSealer } from './platform/aes-gcm-sealer.ts'
import { createPasswordHasher } from './platform/argon2-password-hasher.ts'
import { createConsoleLogger } from './platform/console-logger.ts'
import { eventLoopTurns } from './platform/event-loop-turns.ts'
import { hostLogger } from './platform/host-logger.ts'
import { createAjvJsonSchema } from './platform/json-schema/ajv-json-schema.ts'
import { createJwtTokens } from './platform/jwt-tokens.ts'
import { createExternalTokens } from './platform/key-sets/external-jwts.ts'
import { createHttpKeySets } from './platform/key-sets/http-key-sets.ts'
import { createEvents } from './platform/mitt-events.ts'
import { otplibTotp } from './platform/otplib-totp.ts'
import { createPkiMaterial, type PkiMaterial } from './platform/pki-material.ts'
import type { PkiSource } from './platform/pki-source.ts'
import { pngQrCode } from './platform/qr-code/png-qr-code.ts'
import { createRateLimiters } from './platform/rate-limiter/rate-limits.ts'
import { deriveSecretsKey } from './platform/secrets-key.ts'
import { ServerCredentials } from './platform/server-credentials.ts'
import { createDigest } from './platform/sha256-digest.ts'
import { systemClock } from './platform/system-clock.ts'
import { systemRandom } from './platform/system-random.ts'
import { createScheduler } from './platform/system-scheduler.ts'
import { createX509Pki } from './platform/x509-pki.ts'
import type { Clock } from './ports/clock.ts'
import type { Events } from './ports/events.ts'
import type { Logger } from './ports/logger.ts'
import type { Random } from './ports/random.ts'

const MINUTE_MS = 60_000
/** Beyond it instants could not be told any more. */
const CENTURY_MS = 100 * 365 * 24 * 60 * MINUTE_MS

/** The engine of a controller, and those of its parts that what is around it needs. */
export interface Composition {
  /** Changes what tokens and issuers name from now on. */
  changeAddress(address: string): void
  readonly engine: ControllerEngine
  readonly server: ServerCredentials
  readonly presence: Presence
  readonly access: AccessFeed
  /** Tells this process from others over the same store. */
  readonly processId: string
  readonly timetable: Timetable
  readonly otherClocks: OtherClocks
  readonly events: Events
  readonly random: Random
  readonly clock: Clock
  readonly logger: Logger
  readonly limits: Limits
  readonly profile: Profile
}

/**
 * Puts the ports of a controller together. Nothing is read or written yet. Rejects with a message that names the option when
 * it cannot be used.
 */
export async function composeEngine(options: ControllerOptions): Promise<Composition> {
  checkControllerOptions(options)
  const address = requireAddress(options.address)
  const clock = options.clock ?? systemClock
  const random = options.random ?? systemRandom
  const logger = options.logger === undefined ? createConsoleLogger() : hostLogger(options.logger)
  const pki = await pkiOf(options, clock)
  const server = await ServerCredentials.open(pki)
  const trustDomain = options.trustDomain === undefined ? {} : { trustDomain: options.trustDomain }
  const profile = profileOf(options)
  requireInRange('recoveryCodeLength', profile.recoveryCodeLength, 6, 100)
  requireInRange('refreshTokenGraceMs', profile.refreshTokenGraceMs, 0, 5 * MINUTE_MS)
  const keySets = options.keySets ?? createHttpKeySets({ allowInternal: profile.allowPrivateJwks })
  const events = createEvents(logger)
  const timetable = new Timetable({ clock, logger, scheduler: options.scheduler ?? createScheduler(clock) })
  const { storage, presence: elsewhere } = options
  const limits = limitsOf(options.limits)
  const writes = new Writes(storage, limits)
  const processId = random.uuid()
  const presence = new Presence({ storage, writes, clock, events, logger, timetable, processId, elsewhere })
  const enrollmentDurationMs = durationOf('enrollmentDurationMs', options, 180 * MINUTE_MS)
  const settings = {
    address,
    apiSessionTimeoutMs: durationOf('apiSessionTimeoutMs', options, 30 * MINUTE_MS),
    enrollmentDurationMs,
    routerEnrollmentDurationMs: durationOf('routerEnrollmentDurationMs', options, enrollmentDurationMs),
    accessTokenLifetimeMs: accessTokenLifetimeOf(options),
    hasOpenId: options.oidc !== false,
    openIdUris: openIdUrisOf(options),
    totpIssuer: options.totpIssuer ?? 'openziti.io',
    limits,
    profile,
  }
  const latestRevision = () => options.storage.read(async (tx) => tx.revision)
  const access = new AccessFeed(
    eventLoopTurns,
    (change) => events.emit('access.changed', { ...change, at: clock.now() }),
    latestRevision,
    profile.tellsPassingAccess ? new AccessMoves() : undefined,
  )
  const otherClocks = new OtherClocks(clock, logger)
  const engine = new ControllerEngine({
    otherClocks,
    storage,
    writes,
    clock,
    random,
    digest: await createDigest(),
    pki: await createX509Pki(pki, { ...trustDomain, server }),
    tokens: createJwtTokens(server, (notBefore) => otherClocks.seen(notBefore)),
    jsonSchema: options.jsonSchema ?? createAjvJsonSchema(),
    passwordHasher: options.passwordHasher ?? createPasswordHasher(),
    externalTokens: createExternalTokens(keySets, profile),
    keySets,
    sealer: await createSealer(options.secretsKey ?? (await deriveSecretsKey(pki))),
    totp: otplibTotp,
    qrCode: pngQrCode,
    presence,
    events,
    logger,
    rateLimiters: createRateLimiters(options.rateLimits ?? {}, clock, profile.allowUnlimitedLogins),
    access,
    credentials: new CredentialsFeed(latestRevision),
    timetable,
    dataPlane: { controlAddresses: [], view: undefined },
    turns: eventLoopTurns,
    settings,
  })
  const changeAddress = (next: string) => {
    settings.address = requireAddress(next)
  }
  return {
    changeAddress,
    engine,
    server,
    presence,
    access,
    processId,
    timetable,
    otherClocks,
    events,
    random,
    clock,
    logger,
    limits,
    profile,
  }
}

function openIdUrisOf({ oidc }: ControllerOptions): OpenIdUris {
  const { redirectUris = DEFAULT_REDIRECT_URIS, postLogoutUris = DEFAULT_POST_LOGOUT_URIS } = oidc || {}
  return { redirectUris, postLogoutUris }
}

function accessTokenLifetimeOf({ oidc }: ControllerOptions): number {
  const lifetimeMs = (oidc === false ? undefined : oidc?.accessTokenLifetimeMs) ?? 30 * MINUTE_MS
  return requireInRange('oidc.accessTokenLifetimeMs', lifetimeMs, MINUTE_MS, CENTURY_MS)
}

async function pkiOf(options: ControllerOptions, clock: Clock): Promise<PkiSource> {
  const { pki } = options
  if (pki === undefined) return ephemeralPki(options, clock)
  return 'openFor' in pki ? pki.openFor(hostOf(options.address)) : pki
}

function ephemeralPki(options: ControllerOptions, clock: Clock): Promise<PkiMaterial> {
  const host = hostOf(options.address)
  const hosts = [...new Set([host, 'localhost', '127.0.0.1'])]
  return createPkiMaterial({ hosts, trustDomain: options.trustDomain ?? 'portcullis.internal', now: clock.now() })
}

function durationOf(
  name: 'apiSessionTimeoutMs' | 'enrollmentDurationMs' | 'routerEnrollmentDurationMs',
  options: ControllerOptions,
  otherwise: number,
): number {
  return requireInRange(name, options[name] ?? otherwise, 1, CENTURY_MS)
}
