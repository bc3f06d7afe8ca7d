import { HEALTH_CHECKS } from './health-checks.ts'
import {
  ADDRESS,
  closed,
  DURATION,
  inhabitedSet,
  type JsonSchemaDocument,
  PORT,
  PORT_RANGE,
  PROTOCOL,
  TEXT,
  TIMEOUT_SECONDS,
} from './schema-parts.ts'

const SCHEMAS = 'http://ziti-edge.netfoundry.io/schemas'
const YES = { type: 'boolean', enum: [true] } as const

const LISTEN_OPTIONS = closed({
  connectTimeoutSeconds: TIMEOUT_SECONDS,
  connectTimeout: DURATION,
  maxConnections: { type: 'integer', minimum: 1 },
  identity: TEXT,
  bindUsingEdgeIdentity: { type: 'boolean' },
  cost: { type: 'integer', minimum: 0, maximum: 65_535 },
  precedence: { type: 'string', enum: ['default', 'required', 'failed'] },
})

const PROXY = {
  type: 'object',
  properties: { type: { type: 'string', enum: ['http'] }, address: TEXT },
  required: ['type', 'address'],
} as const

function translation(format: 'ipv4' | 'ipv6', longestPrefix: number): JsonSchemaDocument {
  const address = { type: 'string', format }
  return closed({ from: address, to: address, prefixLength: { type: 'integer', minimum: 0, maximum: longestPrefix } })
}

/** What is forwarded as the client dialed it needs a list of what is allowed; what is not needs a fixed value. */
function forwards(flag: string, allowed: string, fixed: string): JsonSchemaDocument {
  return {
    if: { properties: { [flag]: { const: true } }, required: [flag] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON schema
    then: { required: [allowed] },
    else: { required: [fixed] },
  }
}

const TERMINATOR = {
  ...closed({
    protocol: PROTOCOL,
    forwardProtocol: YES,
    allowedProtocols: inhabitedSet(PROTOCOL),
    address: ADDRESS,
    forwardAddress: YES,
    allowedAddresses: inhabitedSet(ADDRESS),
    forwardAddressTranslations: inhabitedSet({ oneOf: [translation('ipv4', 32), translation('ipv6', 128)] }),
    port: PORT,
    forwardPort: YES,
    allowedPortRanges: inhabitedSet(PORT_RANGE),
    allowedSourceAddresses: inhabitedSet(ADDRESS),
    listenOptions: LISTEN_OPTIONS,
    proxy: PROXY,
    ...HEALTH_CHECKS,
  }),
  allOf: [
    forwards('forwardProtocol', 'allowedProtocols', 'protocol'),
    forwards('forwardAddress', 'allowedAddresses', 'address'),
    forwards('forwardPort', 'allowedPortRanges', 'port'),
  ],
}

/** Where a hosting endpoint sends the traffic of a service. */
export const HOST_V1 = { $id: `${SCHEMAS}/host.v1.schema.json`, ...TERMINATOR }

/** The same for several servers at once. */
export const HOST_V2 = {
  $id: `${SCHEMAS}/host.v2.schema.json`,
  ...closed({ terminators: { type: 'array', items: TERMINATOR, minItems: 1 } }, ['terminators']),
}
