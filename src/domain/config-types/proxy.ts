import { closed, PROTOCOL, TEXT } from './schema-parts.ts'

/** Where a proxying tunneler listens for a service. */
export const PROXY_V1 = {
  $id: 'https://netfoundry.io/schemas/proxy.v1.config.json',
  ...closed(
    {
      port: { type: 'number', minimum: 1, maximum: 65_535 },
      protocols: { type: 'array', items: PROTOCOL, minItems: 1 },
      binding: TEXT,
    },
    ['port', 'protocols'],
  ),
}
