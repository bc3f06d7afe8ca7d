import { closed, defined, type JsonSchemaDocument, PORT, PROTOCOL, TEXT } from './schema-parts.ts'

/** A host name, IP address, CIDR block or wildcard domain. No validator knows the format; only emptiness is refused. */
const ADDRESS = { type: 'string', format: 'idn-hostname', not: { pattern: '^$' } } as const

function translation(format: 'ipv4' | 'ipv6', longestPrefix: number): JsonSchemaDocument {
  const address = { type: 'string', format }
  return closed({ from: address, to: address, prefixLength: { type: 'integer', minimum: 0, maximum: longestPrefix } })
}

/** What the schemas of intercepting and hosting have in common, under the names that deployed clients know. */
export const TUNNEL_DEFINITIONS = {
  addressTranslation: { oneOf: [defined('ipv4AddressTranslation'), defined('ipv6AddressTranslation')] },
  dialAddress: ADDRESS,
  inhabitedSet: { type: 'array', minItems: 1, uniqueItems: true },
  ipv4AddressTranslation: translation('ipv4', 32),
  ipv6AddressTranslation: translation('ipv6', 128),
  listenAddress: {
    ...ADDRESS,
    description: 'A host name, IP address, CIDR block or wildcard domain; what is none of the others is a host name.',
  },
  portNumber: PORT,
  portRange: closed({ low: defined('portNumber'), high: defined('portNumber') }, ['low', 'high']),
  protocolName: PROTOCOL,
  proxyConfiguration: {
    type: 'object',
    properties: { type: defined('proxyType'), address: { ...TEXT, description: 'host:port of the proxy' } },
    required: ['type', 'address'],
  },
  proxyType: { type: 'string', enum: ['http'] },
  timeoutSeconds: { type: 'integer', minimum: 0, maximum: 2_147_483_647 },
} as const satisfies JsonSchemaDocument
