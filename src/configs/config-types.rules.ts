import { closed, defined, type JsonSchemaDocument, TEXT } from './schema-parts.ts'

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

/** How a router listens for links of other routers and dials them. */
export const ROUTER_LINK_V1 = {
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
