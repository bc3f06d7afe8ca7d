import { closed, defined, PROTOCOL, TEXT } from './schema-parts.ts'

/** Where a proxying tunneler listens for a service. */
export const PROXY_V1 = {
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
