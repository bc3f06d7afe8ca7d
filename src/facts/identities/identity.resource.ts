import { z } from 'zod'
import { defineResource } from '../../kernel/declaration/define-resource.ts'
import {
  Cost,
  EntityRef,
  holdingMore,
  Id,
  Instant,
  JsonObject,
  Name,
  NetworkInterface,
  Precedence,
  RoleAttributes,
  Text,
} from '../../kernel/declaration/fields.ts'
import { inState, member, type Resource, type ResourceDefinition } from '../../kernel/declaration/resource.ts'
import { described } from '../../kernel/declaration/words.ts'
import { PERMISSIONS } from '../authority/permissions.resource.ts'
import { AttributeGrantSchema } from './attribute-grant.resource.ts'

/** The environment of a client, as reported at authentication. */
export const EnvInfo = holdingMore(
  described(
    z.object({
      arch: z.string().max(255).optional(),
      domain: z.string().max(253).optional(),
      hostname: z.string().max(253).optional(),
      os: z.string().max(255).optional(),
      osRelease: z.string().max(255).optional(),
      osVersion: z.string().max(255).optional(),
    }),
    {
      arch: 'The processor architecture, as `x86_64`.',
      domain: 'The domain that the device belongs to.',
      hostname: 'The name of the host.',
      os: 'The operating system.',
      osRelease: 'The release of the operating system.',
      osVersion: 'The version of the operating system.',
    },
  ),
)

/** The SDK of a client, as reported at authentication. */
export const SdkInfo = holdingMore(
  described(
    z.object({
      appId: z.string().max(255).optional(),
      appVersion: z.string().max(255).optional(),
      branch: z.string().max(255).optional(),
      revision: z.string().max(255).optional(),
      type: z.string().max(255).optional(),
      version: z.string().max(255).optional(),
    }),
    {
      appId: 'The application that uses the SDK.',
      appVersion: 'The version of the application.',
      branch: 'The branch of the source of the SDK.',
      revision: 'The revision of the source of the SDK.',
      type: 'The name of the SDK, as `ziti-sdk-c`.',
      version: 'The version of the SDK.',
    },
  ),
)

const OUTSTANDING_WORDS = {
  expiresAt: 'When the enrollment is void, RFC 3339.',
  id: 'The id of the enrollment.',
  jwt: 'The signed token to hand to the identity, a secret.',
  token: 'The one-time token inside of `jwt`, a secret.',
} as const

const OUTSTANDING = { expiresAt: z.iso.datetime(), id: z.string(), jwt: z.string(), token: z.string() }

const DEFINITION = {
  name: 'identities',
  singular: 'identity',
  storeName: 'identities',
  permission: 'identity',
  writable: {
    name: Name,
    typeId: z.enum(['User', 'Device', 'Service', 'Router', 'Default']),
    isAdmin: z.boolean(),
    roleAttributes: RoleAttributes.default([]),
    externalId: Text.nullable().default(null),
    authPolicyId: Id.default('default'),
    appData: JsonObject.default({}),
    defaultHostingCost: Cost.default(0),
    defaultHostingPrecedence: Precedence.default('default'),
    serviceHostingCosts: z.record(z.string(), Cost).default({}),
    serviceHostingPrecedences: z.record(z.string(), Precedence).default({}),
    permissions: z.array(z.enum(PERMISSIONS)).default([]),
    rightsUntil: Instant.nullable().default(null),
  },
  createRequest: {
    enrollment: described(
      z.object({ ott: z.boolean().optional(), ottca: Id.optional(), updb: z.string().optional() }),
      {
        ott: 'True to issue an enrollment by one-time token and signing request.',
        ottca: 'The id of the CA with whose certificates the identity is to enroll by one-time token.',
        updb: 'The username with which the identity is to enroll by one-time token and a password of its choice.',
      },
    ).optional(),
  },
  system: {
    isDefaultAdmin: z.boolean(),
    disabledAt: Instant.nullable(),
    disabledUntil: Instant.nullable(),
    directoryAttributes: RoleAttributes.nullable(),
    directoryUntil: Instant.nullable(),
    directoryDisabledAt: Instant.nullable(),
    directoryDueAt: Instant.nullable(),
    /** How many answers of a directory were written: an answer to an earlier question finds another number. */
    directoryAnswers: z.int().nullable(),
    claimAttributes: RoleAttributes.nullable(),
    /** The same by the id of the signer whose tokens claimed them. */
    claimedBy: z.record(Id, RoleAttributes).nullable(),
    attributeGrants: z.array(AttributeGrantSchema).nullable(),
    grantedAttributes: RoleAttributes.nullable(),
    grantsDueAt: Instant.nullable(),
    envInfo: EnvInfo,
    sdkInfo: SdkInfo,
    enrolledById: z.string().nullable(),
  },
  hidden: ['enrolledById', 'directoryDueAt', 'directoryAnswers', 'claimedBy', 'grantsDueAt'],
  plain: ['enrolledById'],
  undo: { disabledAt: 'decided', disabledUntil: 'decided', grantedAttributes: 'computed', grantsDueAt: 'computed' },
  derived: {
    authenticators: described(
      z.object({
        cert: described(z.object({ fingerprint: z.string(), id: z.string() }), {
          fingerprint: 'SHA-1 of the certificate in DER form, 40 lower-case hex digits.',
          id: 'The id of the authenticator.',
        }).optional(),
        updb: described(z.object({ id: z.string(), username: z.string() }), {
          id: 'The id of the authenticator.',
          username: 'The username.',
        }).optional(),
      }),
      { cert: 'A client certificate; absent without one.', updb: 'A username and password; absent without one.' },
    ),
    disabled: z.boolean(),
    edgeRouterConnectionStatus: z.enum(['online', 'offline', 'unknown']),
    enrollment: described(
      z.object({
        ott: described(z.object(OUTSTANDING), OUTSTANDING_WORDS).optional(),
        ottca: described(z.object({ ...OUTSTANDING, ca: EntityRef.nullable(), caId: z.string() }), {
          ...OUTSTANDING_WORDS,
          ca: 'The CA that must have issued the certificate, as a reference; null when it is gone.',
          caId: 'The id of that CA.',
        }).optional(),
        updb: described(z.object(OUTSTANDING), OUTSTANDING_WORDS).optional(),
      }),
      {
        ott: 'By one-time token and signing request; absent without one.',
        ottca: 'By one-time token and certificate of a CA; absent without one.',
        updb: 'By one-time token and password; absent without one.',
      },
    ),
    hasApiSession: z.boolean(),
    hasEdgeRouterConnection: z.boolean(),
    interfaces: z.array(NetworkInterface).nullable(),
    isMfaEnabled: z.boolean(),
  },
  required: ['name', 'typeId', 'isAdmin'],
  unique: ['name', 'externalId'],
  indexed: [
    'authPolicyId',
    'enrolledById',
    'isAdmin',
    'isDefaultAdmin',
    'permissions',
    'directoryUntil',
    'directoryDueAt',
    'grantsDueAt',
  ],
  references: {
    authPolicyId: { to: 'auth-policies', onDelete: 'restrict', show: 'authPolicy' },
    typeId: { to: 'identity-types', onDelete: 'restrict', show: 'type' },
  },
  links: [
    'authenticators',
    'edge-router-policies',
    'edge-routers',
    'enrollments',
    'failed-service-requests',
    'posture-data',
    'service-configs',
    'service-policies',
    'services',
  ],
  symbols: {
    type: 'typeId',
    typeId: null,
    envInfo: null,
    sdkInfo: null,
    enrolledById: null,
    claimedBy: null,
  },
  computed: {
    disabled: inState('disabled'),
    hasEdgeRouterConnection: inState('online'),
    os: member('string', 'envInfo.os'),
    sdk: member('string', 'sdkInfo.type'),
  },
  searchedInside: ['serviceHostingCosts', 'serviceHostingPrecedences'],
  quirks: {
    nullWhenEmpty: ['permissions'],
    mayBeAbsent: [
      'rightsUntil',
      'directoryAttributes',
      'directoryUntil',
      'directoryDisabledAt',
      'claimAttributes',
      'attributeGrants',
      'grantedAttributes',
    ],
    inputNames: { typeId: 'type' },
  },
  operations: ['list', 'get', 'create', 'replace', 'patch', 'delete'],
  adminOnly: ['replace'],
} as const satisfies ResourceDefinition

/** A party that may connect: a person, a device, a workload or a router. */
export interface Identities extends Resource<typeof DEFINITION> {}
export const identities: Identities = defineResource(DEFINITION, {
  typeId:
    'The kind of thing that the identity stands for. `Router` is given to the identities of edge routers by the controller alone.',
  isAdmin: 'Whether the identity may do everything in the management API.',
  externalId: 'The name by which another system knows the identity, unique; null or empty for none.',
  authPolicyId: 'The id of the auth policy that says how the identity authenticates; `default` by default.',
  appData: 'Free data for applications, shown to the identity itself; empty by default.',
  defaultHostingCost: 'The cost of terminators that the identity hosts, 0 to 65535; 0 by default.',
  defaultHostingPrecedence: 'The precedence of terminators that the identity hosts; `default` by default.',
  serviceHostingCosts: 'The same for single services: service id to cost, 0 to 65535.',
  serviceHostingPrecedences: 'The same for single services: service id to precedence.',
  permissions:
    'The rights of the identity in the management API without being an admin: `admin_readonly`, a kind of entity, or a kind and an action as `service.read`.',
  rightsUntil:
    'When `isAdmin` and `permissions` end by themselves, RFC 3339; absent where they last. Only an admin writes it.',
  enrollment:
    'In a request, which enrollment to issue at once; in an answer, the outstanding ones by method, empty where the reader is no admin and the identity is one.',
  isDefaultAdmin: 'True for the admin with whom the network began. It cannot be deleted.',
  disabledAt: 'When the identity was disabled, RFC 3339; null when it was not.',
  disabledUntil: 'When a disabled identity may authenticate again, RFC 3339; null when an admin must enable it.',
  directoryAttributes:
    'Role attributes that the directory of the host gives, beside `roleAttributes`; absent where it gives none.',
  directoryUntil:
    'When `directoryAttributes` end unless the directory gives them again, RFC 3339; absent where it gives none.',
  directoryDisabledAt:
    'When the directory of the host disabled the identity, RFC 3339; absent while the directory does not.',
  claimAttributes:
    'Role attributes by claims of external tokens, beside `roleAttributes`, while the logins by these tokens stand; absent where there are none.',
  attributeGrants:
    'Role attributes that the identity has for some time, at most 50; absent without any. POST /portcullis/v1/identities/{id}/attribute-grants gives them.',
  grantedAttributes:
    'The role attributes of the grants in force, beside `roleAttributes`; absent where there are none.',
  envInfo: 'The environment that the identity reported when it last authenticated.',
  sdkInfo: 'The SDK that the identity reported when it last authenticated.',
  authenticators:
    'The authenticators of the identity, one of each method; all of them are listed below `/authenticators`.',
  disabled: 'True while the identity may not authenticate.',
  edgeRouterConnectionStatus: 'Whether the identity is connected to an edge router; `unknown` when none reported it.',
  hasApiSession: 'True while the identity has an API session that is not idle for too long.',
  hasEdgeRouterConnection: 'True while the identity is connected to an edge router.',
  interfaces: 'The network interfaces that the identity reported; null when it reported none.',
  isMfaEnabled: 'True when the identity completed an MFA enrollment.',
})

/** The default fields of a new identity. */
export const PLAIN_IDENTITY = {
  isAdmin: false,
  isDefaultAdmin: false,
  roleAttributes: [],
  externalId: null,
  authPolicyId: 'default',
  appData: {},
  defaultHostingCost: 0,
  defaultHostingPrecedence: 'default',
  serviceHostingCosts: {},
  serviceHostingPrecedences: {},
  permissions: [],
  rightsUntil: null,
  disabledAt: null,
  disabledUntil: null,
  directoryAttributes: null,
  directoryUntil: null,
  directoryDisabledAt: null,
  directoryDueAt: null,
  directoryAnswers: null,
  claimAttributes: null,
  claimedBy: null,
  attributeGrants: null,
  grantedAttributes: null,
  grantsDueAt: null,
  envInfo: {},
  sdkInfo: {},
  enrolledById: null,
} as const

/** POST /identities/{id}/disable. */
export const DisableRequest = described(z.object({ durationMinutes: z.int().max(2_147_483_647) }), {
  durationMinutes: 'For how many minutes; 0 and less until an admin enables the identity.',
})

/** PUT /identities/{id}/trace. */
export const TraceRequest = described(
  z.object({
    channels: z.array(z.string()).max(100).optional(),
    duration: z.string().max(100).optional(),
    enabled: z.boolean().optional(),
    traceId: z.string().max(256).optional(),
  }),
  {
    channels: 'The events to trace: `selectPath`, `establishPath` or `all`; all by default.',
    duration: 'For how long, as `10m` or `1h30m`; needed to begin.',
    enabled: 'True to begin, false (the default) to end.',
    traceId: 'A name for the trace; a UUID by default.',
  },
)
