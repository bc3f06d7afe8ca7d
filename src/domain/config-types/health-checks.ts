import { closed, defined, type JsonSchemaDocument, TEXT } from './schema-parts.ts'

/** What {@link HEALTH_CHECKS} refer to. */
export const HEALTH_CHECK_DEFINITIONS = {
  action: closed(
    {
      trigger: { type: 'string', enum: ['fail', 'pass', 'change'] },
      action: {
        type: 'string',
        pattern: '(mark (un)?healthy|increase cost [0-9]+|decrease cost [0-9]+|send event)',
      },
      consecutiveEvents: { type: 'integer', minimum: 0, maximum: 65_535 },
      duration: defined('duration'),
    },
    ['trigger', 'action'],
  ),
  actionList: { type: 'array', items: defined('action'), minItems: 1, maxItems: 20 },
  // A span such as `5s` or `300ms`; deployed controllers look for it anywhere in the text.
  duration: { type: 'string', pattern: '[0-9]+(h|m|s|ms)' },
  httpCheck: closed(
    {
      url: TEXT,
      method: defined('method'),
      body: TEXT,
      interval: defined('duration'),
      timeout: defined('duration'),
      actions: defined('actionList'),
      expectStatus: { type: 'integer', minimum: 100, maximum: 599 },
      expectInBody: TEXT,
    },
    ['interval', 'timeout', 'url'],
  ),
  httpCheckList: { type: 'array', items: defined('httpCheck') },
  method: { type: 'string', enum: ['GET', 'POST', 'PUT', 'PATCH'] },
  portCheck: closed(
    { interval: defined('duration'), timeout: defined('duration'), address: TEXT, actions: defined('actionList') },
    ['interval', 'timeout', 'address'],
  ),
  portCheckList: { type: 'array', items: defined('portCheck') },
} as const satisfies JsonSchemaDocument

/** How a hosting endpoint watches the server behind it: by connecting to a port, by HTTP requests. */
export const HEALTH_CHECKS = { portChecks: defined('portCheckList'), httpChecks: defined('httpCheckList') } as const
