import { closed, DURATION, TEXT } from './schema-parts.ts'

const ACTION = closed(
  {
    trigger: { type: 'string', enum: ['fail', 'pass', 'change'] },
    action: {
      type: 'string',
      pattern: '(mark (un)?healthy|increase cost [0-9]+|decrease cost [0-9]+|send event)',
    },
    consecutiveEvents: { type: 'integer', minimum: 0, maximum: 65_535 },
    duration: DURATION,
  },
  ['trigger', 'action'],
)

const ACTIONS = { type: 'array', items: ACTION, minItems: 1, maxItems: 20 } as const

const PORT_CHECK = closed({ interval: DURATION, timeout: DURATION, address: TEXT, actions: ACTIONS }, [
  'interval',
  'timeout',
  'address',
])

const HTTP_CHECK = closed(
  {
    url: TEXT,
    method: { type: 'string', enum: ['GET', 'POST', 'PUT', 'PATCH'] },
    body: TEXT,
    interval: DURATION,
    timeout: DURATION,
    actions: ACTIONS,
    expectStatus: { type: 'integer', minimum: 100, maximum: 599 },
    expectInBody: TEXT,
  },
  ['interval', 'timeout', 'url'],
)

/** How a hosting endpoint watches the server behind it: by connecting to a port, by HTTP requests. */
export const HEALTH_CHECKS = {
  portChecks: { type: 'array', items: PORT_CHECK },
  httpChecks: { type: 'array', items: HTTP_CHECK },
} as const
