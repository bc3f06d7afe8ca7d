import { checkOptions, type OptionRules } from '../base/arguments.ts'
import { LENIENCY_RULES } from '../base/compatibility.ts'
import { DEFAULT_LIMITS } from '../base/limits.ts'
import type { ControllerOptions } from './controller-options.ts'

/** Rules of the options, one for each. */
export const CONTROLLER_OPTIONS: OptionRules<ControllerOptions> = {
  storage: {
    functions: ['read', 'write', 'close'],
    isNeeded: true,
    hint: 'a storage, such as memoryStorage() of portcullis/memory or await sqliteStorage(file) of portcullis/kysely',
  },
  // Its own rule judges its form.
  address: 'string',
  model: 'unknown',
  prune: 'boolean',
  compat: { oneOf: ['openziti'] },
  admin: { members: ['username', 'password'] },
  pki: { hint: "PEM texts as { caPem, signingCertPem, … }, or openPkiDirectory('FOLDER') of portcullis/node" },
  trustDomain: 'string',
  apiSessionTimeoutMs: 'number',
  enrollmentDurationMs: 'number',
  routerEnrollmentDurationMs: 'number',
  secretsKey: { shape: 'bytes', hint: 'a Uint8Array of 32 bytes' },
  keyStore: { functions: ['create', 'open'] },
  keySets: 'object',
  totpIssuer: 'string',
  reportedVersion: 'string',
  presence: 'object',
  authorize: 'function',
  hooks: { members: ['beforeLogin', 'beforeEnroll', 'beforeGrant', 'afterChange'] },
  directory: { functions: ['attributesOf'], hint: 'an object with attributesOf(identity)' },
  refuseUnknownMembers: 'boolean',
  rateLimits: { members: ['anonymous', 'identity', 'passwordsByAddress', 'passwordsByUsername'], or: [false] },
  limits: { members: Object.keys(DEFAULT_LIMITS) },
  latestBackup: 'function',
  audit: { members: ['keepMs', 'mostBytes', 'strangerBytesPerHour', 'endpointBytesPerHour', 'useBytesPerHour'] },
  webhooks: { members: ['allow'], or: [false] },
  cors: { members: ['origins'] },
  oidc: {
    members: [
      'issuers',
      'ports',
      'accessTokenLifetimeMs',
      'idTokenLifetimeMs',
      'refreshTokenLifetimeMs',
      'redirectUris',
      'postLogoutUris',
    ],
    or: [false],
  },
  directE2EE: { oneOf: ['permissive', 'directOnly'] },
  probes: 'boolean',
  apiPage: 'boolean',
  telemetry: { functions: ['record', 'observe', 'trace'], hint: 'openTelemetry() of portcullis/opentelemetry' },
  clock: { functions: ['now'] },
  scheduler: { functions: ['at'] },
  random: { functions: ['id', 'base32', 'uuid'] },
  passwordHasher: { functions: ['hash', 'verify', 'needsRehash'] },
  jsonSchema: { functions: ['problemOf', 'violationOf'] },
  logger: { functions: ['info', 'warn', 'error'] },
  ...LENIENCY_RULES,
}

/** Refuses options of `createController` that the compiler would have refused. Throws a `TypeError` that names the option. */
export function checkControllerOptions(options: unknown): void {
  checkOptions('createController', options, CONTROLLER_OPTIONS, 'an object with at least storage and address')
  const { directE2EE, oidc } = Object(options)
  // Endpoints verify the tokens of circuits by the keys that the OpenID provider publishes.
  if (directE2EE !== undefined && oidc === false) {
    throw new TypeError('createController: directE2EE needs the OpenID provider, and oidc is false')
  }
}
