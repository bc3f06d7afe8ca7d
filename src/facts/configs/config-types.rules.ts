import { canonicalJson } from '../../base/text.ts'
import {
  closed,
  defined,
  HEALTH_CHECK_DEFINITIONS,
  HOST_V1,
  HOST_V2,
  INTERCEPT_V1,
  type JsonSchemaDocument,
  PROTOCOL,
  TEXT,
  TUNNELER_CLIENT_V1,
  TUNNELER_SERVER_V1,
} from './tunneler-config-types.rules.ts'

export type { JsonSchemaDocument } from './tunneler-config-types.rules.ts'

/** The network interfaces on which a service is hosted or intercepted. Deployed clients see the same definitions. */
const INTERFACES_V1 = {
  $id: 'https://netfoundry.io/schemas/interfaces.v1.config.json',
  definitions: HEALTH_CHECK_DEFINITIONS,
  ...closed({ interfaces: { type: 'array', items: TEXT } }, ['interfaces']),
}

/** The port on which a proxying tunneler listens for a service. */
const PROXY_V1 = {
  $id: 'https://netfoundry.io/schemas/proxy.v1.config.json',
  definitions: { protocol: PROTOCOL },
  ...closed(
    {
      port: { type: 'number', minimum: 1, maximum: 65_535, description: 'the port on which the tunneler listens' },
      protocols: { type: 'array', items: defined('protocol'), minItems: 1 },
      binding: TEXT,
    },
    ['port', 'protocols'],
  ),
}

const NOT_EMPTY = { type: 'string', minLength: 1 } as const

function integer(minimum: number, maximum?: number) {
  return { type: 'integer', minimum, ...(maximum === undefined ? {} : { maximum }) }
}

const DEFINITIONS = {
  backoff: closed({
    retryBackoffFactor: { type: 'number', minimum: 1, maximum: 100 },
    minRetryInterval: defined('duration'),
    maxRetryInterval: defined('duration'),
  }),
  channelOptions: closed({
    outQueueSize: integer(0),
    maxQueuedConnects: integer(0, 5000),
    maxOutstandingConnects: integer(1, 1000),
    connectTimeout: defined('duration'),
    writeTimeout: defined('duration'),
  }),
  dialer: closed({
    binding: { ...NOT_EMPTY, default: 'transport' },
    maxDefaultConnections: integer(1, 100),
    maxAckConnections: integer(0, 100),
    startupDelay: defined('duration'),
    bindInterface: TEXT,
    groups: defined('groups'),
    healthyDialBackoff: defined('backoff'),
    unhealthyDialBackoff: defined('backoff'),
    options: defined('channelOptions'),
  }),
  duration: { type: 'string', pattern: '^([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$' },
  groups: { oneOf: [TEXT, { type: 'array', items: TEXT }] },
  heartbeats: closed({
    sendInterval: defined('duration'),
    checkInterval: defined('duration'),
    closeUnresponsiveTimeout: defined('duration'),
  }),
  listener: closed(
    {
      bind: { ...NOT_EMPTY, description: 'the transport address, as tls:0.0.0.0:6262' },
      binding: { ...NOT_EMPTY, default: 'transport' },
      advertise: TEXT,
      bindInterface: TEXT,
      groups: defined('groups'),
      options: defined('channelOptions'),
    },
    ['bind'],
  ),
} as const satisfies JsonSchemaDocument

/** The listeners of a router for links of other routers, and its dialers. */
const ROUTER_LINK_V1 = {
  $id: 'https://netfoundry.io/schemas/router.link.v1.config.json',
  definitions: DEFINITIONS,
  ...closed({
    listeners: { type: 'array', items: defined('listener') },
    dialers: { type: 'array', items: defined('dialer') },
    heartbeats: defined('heartbeats'),
    payloadSenderQueueSize: integer(1),
    ackSenderQueueSize: integer(1),
    gcMode: { type: 'string', enum: ['preserve', 'orphaned', 'changed'], default: 'preserve' },
  }),
}

/** A config type of every new controller. */
export interface BuiltInConfigType {
  readonly id: string
  readonly name: string
  readonly target: 'service' | 'router'
  readonly schema: JsonSchemaDocument
}

/** The config types of a new controller, under the ids that deployed clients know. */
export const BUILT_IN_CONFIG_TYPES: readonly BuiltInConfigType[] = [
  forServices('ziti-tunneler-client.v1', TUNNELER_CLIENT_V1, 'f2dd2df0-9c04-4b84-a91e-71437ac229f1'),
  forServices('ziti-tunneler-server.v1', TUNNELER_SERVER_V1, 'cea49285-6c07-42cf-9f52-09a9b115c783'),
  forServices('intercept.v1', INTERCEPT_V1, 'g7cIWbcGg'),
  forServices('host.v1', HOST_V1, 'NH5p4FpGR'),
  forServices('host.v2', HOST_V2),
  forServices('interfaces.v1', INTERFACES_V1),
  forServices('proxy.v1', PROXY_V1),
  { id: 'router.link.v1', name: 'router.link.v1', target: 'router', schema: ROUTER_LINK_V1 },
]

function forServices(name: string, schema: JsonSchemaDocument, id = name): BuiltInConfigType {
  return { id, name, target: 'service', schema }
}

/** SHA-256 of the canonical JSON of the schemas of built-in config types in version 0.1.0. */
const FORMER: ReadonlySet<string> = new Set([
  'dbc11b52c8491b4c37f801ba8ca58df143457a56e8c9e069294dffce24e6f3d6', // ziti-tunneler-server.v1
  'b76b5d2b35c656a0a67a584c7e7a910dacda02db77c76217183fc9ae3ba5b850', // intercept.v1
  '008d710cb4b461575b4b8438a8db0cfcad947a179a425fc6f7f8df136dda7c6e', // host.v1
  '788e8a152d17b61c92075f34d2afbed5e79187ff7506bc3985441a091cd4cb50', // host.v2
  '51c9efc87143df95f0c758efc09fcb196fad679479684c10b5d323c249abe4b9', // interfaces.v1
  '460c152b63f4a7365423f55b3da48f957dfda1f543be46d8a8a9377b0c8f3aca', // proxy.v1
  '240d696a9d1d59ae225f5c0b3c8c7a0741dfff72ed580f81f13286987b9c6cfc', // router.link.v1
])

/** Reports whether a schema is the unchanged schema of a built-in config type of an earlier version. */
export function isFormerSchema(schema: JsonSchemaDocument, sha256: (text: string) => string): boolean {
  return FORMER.has(sha256(canonicalJson(schema)))
}
