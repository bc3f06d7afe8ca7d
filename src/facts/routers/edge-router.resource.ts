import { z } from 'zod'
import { defineResource } from '../../kernel/declaration/define-resource.ts'
import { Cost, JsonObject, Name, NetworkInterface, RoleAttributes, TextSet } from '../../kernel/declaration/fields.ts'
import { IS_CONNECTED, member, type Resource, type ResourceDefinition } from '../../kernel/declaration/resource.ts'
import { described } from '../../kernel/declaration/words.ts'
import { ControlListeners, ROUTER_WORDS, routerSpellings } from './router-fields.resource.ts'

/** The connection state of an edge router; offline routers have no addresses. */
const EdgeRouterPresence = {
  capabilities: z.array(z.string()).optional(),
  hostname: z.string(),
  isOnline: z.boolean(),
  supportedProtocols: z.record(z.string(), z.string()),
  syncStatus: z.string(),
  version: z.string().optional(),
} as const

/** Descriptions of the members of {@link EdgeRouterPresence}. */
const EDGE_ROUTER_PRESENCE_WORDS = {
  capabilities:
    'The abilities of the router, in the words of `/enumerated-router-capabilities`; absent while that is unknown.',
  hostname: 'The host name that the router reported; empty while it is offline.',
  isOnline: 'True while the router is connected to the controller.',
  supportedProtocols:
    'Where clients reach the router: protocol to URL, as `tls` to `tls://host:port`. Empty while it is offline.',
  syncStatus:
    "How far the router has the network's data: `SYNC_DONE` when it has all, `SYNC_UNKNOWN` while it is offline.",
  version: 'The version of its software; absent while that is unknown.',
}

const DEFINITION = {
  name: 'edge-routers',
  singular: 'edge router',
  storeName: 'routers',
  permission: 'router',
  writable: {
    name: Name,
    appData: JsonObject.default({}),
    configs: TextSet.default([]),
    cost: Cost.default(0),
    ctrlChanListeners: ControlListeners,
    disabled: z.boolean().default(false),
    isTunnelerEnabled: z.boolean().default(false),
    noTraversal: z.boolean().default(false),
    roleAttributes: RoleAttributes.default([]),
  },
  system: {
    certPem: z.string().nullable(),
    fingerprint: z.string().nullable(),
    isVerified: z.boolean(),
    unverifiedCertPem: z.string().nullable(),
    unverifiedFingerprint: z.string().nullable(),
    authorityKeyId: z.string().nullable(),
  },
  derived: {
    ...EdgeRouterPresence,
    enrollmentCreatedAt: z.iso.datetime().optional(),
    enrollmentExpiresAt: z.iso.datetime().optional(),
    enrollmentJwt: z.string().optional(),
    enrollmentToken: z.string().optional(),
    interfaces: z.array(NetworkInterface).nullable(),
    versionInfo: described(
      z.object({
        arch: z.string(),
        buildDate: z.string(),
        os: z.string(),
        revision: z.string(),
        version: z.string(),
      }),
      {
        arch: 'The processor architecture.',
        buildDate: 'When the software was built.',
        os: 'The operating system.',
        revision: 'The revision of the source.',
        version: 'The version of the software.',
      },
    ),
  },
  hidden: ['authorityKeyId'],
  plain: ['authorityKeyId'],
  required: ['name'],
  unique: ['name', 'fingerprint'],
  references: { configs: { to: 'configs', onDelete: 'clear' } },
  links: ['edge-router-policies'],
  symbols: { authorityKeyId: null, certPem: null, unverifiedCertPem: null, unverifiedFingerprint: null },
  computed: {
    connected: IS_CONNECTED,
    online: IS_CONNECTED,
    isOnline: IS_CONNECTED,
    ctrlChanListeners: member('json', 'ctrlChanListeners'),
  },
  quirks: {
    nullWhenEmpty: ['configs', 'roleAttributes'],
    absentWhenEmpty: ['ctrlChanListeners'],
    spellings: routerSpellings,
  },
  operations: ['list', 'get', 'create', 'replace', 'patch', 'delete'],
} as const satisfies ResourceDefinition

/** A router that identities connect to. */
export interface EdgeRouters extends Resource<typeof DEFINITION> {}
export const edgeRouters: EdgeRouters = defineResource(DEFINITION, {
  ...ROUTER_WORDS,
  appData: 'Free data for applications; empty by default.',
  isTunnelerEnabled:
    'True for a router that hosts and dials services for itself, and that has an identity of its own for it; false by default.',
  certPem: 'The certificate of the router, PEM; null until it enrolled.',
  fingerprint: "SHA-1 of the router's certificate in DER form, 40 lower-case hex digits; null until it enrolled.",
  ...EDGE_ROUTER_PRESENCE_WORDS,
  versionInfo: 'The software of the router, as it reported it; empty texts while that is unknown.',
})

/** Descriptions of the members of {@link CommonEdgeRouter}. */
export const COMMON_EDGE_ROUTER_WORDS = {
  appData: 'Free data for applications.',
  cost: 'The cost of a path through the router, 0 to 65535. Less is preferred.',
  disabled: 'True for a router that may not connect.',
  name: 'The name of the router.',
  noTraversal: 'True for a router that no traffic passes on its way to another one.',
  ...EDGE_ROUTER_PRESENCE_WORDS,
} as const

/** The members of an edge router that any identity with access to it may see. */
export const CommonEdgeRouter = described(
  z.object({
    appData: JsonObject,
    cost: z.int(),
    disabled: z.boolean(),
    name: z.string(),
    noTraversal: z.boolean(),
    ...EdgeRouterPresence,
  }),
  COMMON_EDGE_ROUTER_WORDS,
)
