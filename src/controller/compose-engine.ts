import { AccessFeed } from '../access/access-feed.ts'
import { AccessMoves } from '../access/access-moves.ts'
import { hostOf, requireAddress } from '../base/addresses.ts'
import { requireInRange } from '../base/arguments.ts'
import { BoundedMap } from '../base/collections.ts'
import { type Profile, profileOf } from '../base/compatibility.ts'
import { type Limits, limitsOf } from '../base/limits.ts'
import { DAY_MS, MINUTE_MS } from '../base/time.ts'
import type { AuditSettings, OwnerCount } from '../context/context.ts'
import { placeOf } from '../context/store-level.ts'
import { OtherClocks, Timetable } from '../context/timetable.ts'
import { WireTexts } from '../context/wire-texts.ts'
import { Writes } from '../context/writes.ts'
import { CredentialsFeed } from '../credentials/identity-credentials.ts'
import { ControllerEngine } from '../engine/engine.ts'
import { DEFAULT_POST_LOGOUT_URIS, DEFAULT_REDIRECT_URIS } from '../facts/oidc/auth-request.rules.ts'
import type { OpenIdUris } from '../network/controller-settings.ts'
import { createSealer } from '../platform/aes-gcm-sealer.ts'
import { createPasswordHasher } from '../platform/argon2-password-hasher.ts'
import { askedHost, createEvents } from '../platform/host-hooks.ts'
import { createAjvJsonSchema } from '../platform/json-schema/ajv-json-schema.ts'
import { createJwtTokens } from '../platform/jwt-tokens.ts'
import { createExternalTokens } from '../platform/key-sets/external-jwts.ts'
import { createHttpKeySets } from '../platform/key-sets/http-key-sets.ts'
import { createConsoleLogger, hostLogger } from '../platform/loggers.ts'
import { otplibTotp } from '../platform/otplib-totp.ts'
import { createWebhookEndpoints } from '../platform/outgoing/http-webhook-endpoints.ts'
import { createPkiMaterial, deriveSecretsKey, type PkiMaterial, type PkiSource } from '../platform/pki-material.ts'
import { pngQrCode } from '../platform/png-qr-code.ts'
import { createRateLimiters } from '../platform/rate-limits.ts'
import { sealedKeyStore } from '../platform/sealed-key-store.ts'
import { ServerCredentials } from '../platform/server-credentials.ts'
import {
  createDigest,
  createLoopTurns,
  createScheduler,
  systemClock,
  systemRandom,
} from '../platform/system-runtime.ts'
import { createX509Pki } from '../platform/x509/x509-pki.ts'
import type { Clock } from '../ports/runtime.ts'
import { MAX_OWNERS } from '../records/owner-quota.ts'
import { Presence } from '../routers/presence.ts'
import type { ControllerOptions, WebhookOptions } from './controller-options.ts'
import { checkControllerOptions } from './option-shapes.ts'

/** Beyond it instants cannot be represented any more. */
const CENTURY_MS = 100 * 365 * DAY_MS

/** The engine of a controller, and the parts of it that its surroundings need. */
export type Composition = Awaited<ReturnType<typeof composeEngine>>

/**
 * Puts the ports of a controller together. Nothing is read or written yet. Rejects with a message that names the option when
 * it cannot be used.
 */
export async function composeEngine(options: ControllerOptions) {
  checkControllerOptions(options)
  const address = requireAddress(options.address)
  const clock = options.clock ?? systemClock
  const random = options.random ?? systemRandom
  const logger = options.logger === undefined ? createConsoleLogger() : hostLogger(options.logger)
  const pki = await pkiOf(options, clock)
  const server = await ServerCredentials.open(pki)
  const trustDomain = options.trustDomain === undefined ? {} : { trustDomain: options.trustDomain }
  const profile = profileOf(options)
  const keySets = options.keySets ?? createHttpKeySets({ allowInternal: profile.allowPrivateJwks })
  const { storage, presence: elsewhere } = options
  const limits = limitsOf(options.limits)
  const turns = createLoopTurns()
  const writes = new Writes(storage, limits, logger, turns)
  const events = createEvents(logger, () => writes.tellCommitted())
  const { hooks = {} } = options
  if (hooks.afterChange !== undefined) events.on('entity.changed', (change) => hooks.afterChange?.(change))
  const scheduler = options.scheduler ?? createScheduler(clock)
  const timetable = new Timetable({ clock, logger, scheduler })
  // Distinguishes this process from others over the same store.
  const processId = random.uuid()
  const presence = new Presence({ storage, writes, clock, events, logger, timetable, processId, elsewhere })
  const settings = settingsOf(options, address, limits, profile)
  const latest = () => options.storage.read(async (tx) => placeOf(tx))
  const access = new AccessFeed(
    turns,
    { now: () => clock.now(), due: (occasion, at) => timetable.notLater(occasion, 'next', at) },
    (change) => events.emit('access.changed', { ...change, at: clock.now() }),
    latest,
    profile.tellsPassingAccess ? new AccessMoves() : undefined,
  )
  // The recent counts of limited records, by owner.
  const ownerCounts = new BoundedMap<string, OwnerCount>(MAX_OWNERS)
  const otherClocks = new OtherClocks(clock, logger)
  const { sealer, keyStore } = await secretsOf(options, pki)
  const network = await createX509Pki(pki, { ...trustDomain, server, keyStore })
  const engine = new ControllerEngine({
    otherClocks,
    storage,
    writes,
    clock,
    random,
    digest: await createDigest(),
    pki: network,
    keys: network.keys,
    tokens: createJwtTokens(server, (notBefore) => otherClocks.seen(notBefore)),
    jsonSchema: options.jsonSchema ?? createAjvJsonSchema(),
    passwordHasher: options.passwordHasher ?? createPasswordHasher(),
    externalTokens: createExternalTokens(keySets, profile),
    keySets,
    sealer,
    totp: otplibTotp,
    qrCode: pngQrCode,
    presence,
    events,
    logger,
    host: askedHost(hooks, options.directory, { logger, clock, scheduler }),
    rateLimiters: createRateLimiters(options.rateLimits ?? {}, clock, profile.allowUnlimitedLogins),
    access,
    credentials: new CredentialsFeed(latest),
    timetable,
    dataPlane: { controlAddresses: [], view: undefined },
    turns,
    webhookEndpoints: await createWebhookEndpoints(webhookOptionsOf(options).allow ?? []),
    texts: new WireTexts(),
    ownerCounts,
    settings,
  })
  /** Changes the address that tokens and issuers name from now on. */
  const changeAddress = (next: string) => {
    settings.address = requireAddress(next)
  }
  return {
    changeAddress,
    engine,
    server,
    presence,
    access,
    ownerCounts,
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

/** The seal of secrets in the store, and the place of new keys. */
async function secretsOf(options: ControllerOptions, pki: PkiSource) {
  const secretsKey = options.secretsKey ?? (await deriveSecretsKey(pki))
  const sealer = await createSealer(secretsKey)
  // Nothing sealed by a key that is made up for this process could be read by the next.
  return { sealer, keyStore: options.keyStore ?? (secretsKey && sealedKeyStore(sealer)) }
}

/** Some small queries: how late a process takes up new keys, and ends records by time that a process left which is gone. */
const LOOK_FOR_OTHERS_MS = 10_000

function settingsOf(options: ControllerOptions, address: string, limits: Limits, profile: Profile) {
  const enrollmentDurationMs = durationOf('enrollmentDurationMs', options, 180 * MINUTE_MS)
  return {
    address,
    apiSessionTimeoutMs: durationOf('apiSessionTimeoutMs', options, 30 * MINUTE_MS),
    enrollmentDurationMs,
    routerEnrollmentDurationMs: durationOf('routerEnrollmentDurationMs', options, enrollmentDurationMs),
    accessTokenLifetimeMs: accessTokenLifetimeOf(options),
    hasOpenId: options.oidc !== false,
    openIdUris: openIdUrisOf(options),
    totpIssuer: options.totpIssuer ?? 'openziti.io',
    audit: auditSettingsOf(options),
    latestBackup: options.latestBackup,
    lookForOthersMs: options.storage.isVolatile ? undefined : LOOK_FOR_OTHERS_MS,
    limits,
    profile,
  }
}

const KIB = 1024
const MIB = KIB * KIB
const MOST_AUDIT_BYTES = 1024 * 1024 * MIB

function auditSettingsOf({ audit = {}, storage }: ControllerOptions): AuditSettings {
  const {
    keepMs = 365 * DAY_MS,
    mostBytes = (storage.isVolatile ? 32 : 1024) * MIB,
    strangerBytesPerHour = 256 * KIB,
    endpointBytesPerHour = 256 * KIB,
    useBytesPerHour = MIB,
  } = audit
  return {
    keepMs: requireInRange('audit.keepMs', keepMs, MINUTE_MS, CENTURY_MS),
    mostBytes: requireInRange('audit.mostBytes', mostBytes, KIB, MOST_AUDIT_BYTES),
    strangerBytesPerHour: requireInRange('audit.strangerBytesPerHour', strangerBytesPerHour, 0, MOST_AUDIT_BYTES),
    endpointBytesPerHour: requireInRange('audit.endpointBytesPerHour', endpointBytesPerHour, 0, MOST_AUDIT_BYTES),
    useBytesPerHour: requireInRange('audit.useBytesPerHour', useBytesPerHour, 0, MOST_AUDIT_BYTES),
  }
}

function webhookOptionsOf({ webhooks = {} }: ControllerOptions): WebhookOptions {
  // A process that sends nothing accepts any address: the sending process judges by its own options.
  return webhooks === false ? { allow: ['0.0.0.0/0', '::/0'] } : webhooks
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
