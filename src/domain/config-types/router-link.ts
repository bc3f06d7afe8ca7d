import { closed, TEXT } from './schema-parts.ts'

const SPAN = { type: 'string', pattern: '^([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$' } as const
const NOT_EMPTY = { type: 'string', minLength: 1 } as const
const GROUPS = { oneOf: [TEXT, { type: 'array', items: TEXT }] } as const

function integer(minimum: number, maximum?: number) {
  return { type: 'integer', minimum, ...(maximum === undefined ? {} : { maximum }) }
}

const CHANNEL_OPTIONS = closed({
  outQueueSize: integer(0),
  maxQueuedConnects: integer(0, 5000),
  maxOutstandingConnects: integer(1, 1000),
  connectTimeout: SPAN,
  writeTimeout: SPAN,
})

const BACKOFF = closed({
  retryBackoffFactor: { type: 'number', minimum: 1, maximum: 100 },
  minRetryInterval: SPAN,
  maxRetryInterval: SPAN,
})

const LISTENER = closed(
  {
    bind: NOT_EMPTY,
    binding: { ...NOT_EMPTY, default: 'transport' },
    advertise: TEXT,
    bindInterface: TEXT,
    groups: GROUPS,
    options: CHANNEL_OPTIONS,
  },
  ['bind'],
)

const DIALER = closed({
  binding: { ...NOT_EMPTY, default: 'transport' },
  maxDefaultConnections: integer(1, 100),
  maxAckConnections: integer(0, 100),
  startupDelay: SPAN,
  bindInterface: TEXT,
  groups: GROUPS,
  healthyDialBackoff: BACKOFF,
  unhealthyDialBackoff: BACKOFF,
  options: CHANNEL_OPTIONS,
})

/** How a router listens for links of other routers and dials them. */
export const ROUTER_LINK_V1 = {
  $id: 'https://netfoundry.io/schemas/router.link.v1.config.json',
  ...closed({
    listeners: { type: 'array', items: LISTENER },
    dialers: { type: 'array', items: DIALER },
    heartbeats: closed({ sendInterval: SPAN, checkInterval: SPAN, closeUnresponsiveTimeout: SPAN }),
    payloadSenderQueueSize: integer(1),
    ackSenderQueueSize: integer(1),
    gcMode: { type: 'string', enum: ['preserve', 'orphaned', 'changed'], default: 'preserve' },
  }),
}
