import { HEALTH_CHECK_DEFINITIONS, HEALTH_CHECKS } from './health-checks.ts'
import { closed, defined, inhabitedSetOf, type JsonSchemaDocument, TEXT } from './schema-parts.ts'
import { TUNNEL_DEFINITIONS } from './tunnel-definitions.ts'

const SCHEMAS = 'http://ziti-edge.netfoundry.io/schemas'
const DEFINITIONS = { ...HEALTH_CHECK_DEFINITIONS, ...TUNNEL_DEFINITIONS } as const

/** What is true or not there. */
function flag(description: string): JsonSchemaDocument {
  return { type: 'boolean', enum: [true], description }
}

const LISTEN_OPTIONS = closed({
  connectTimeoutSeconds: {
    ...defined('timeoutSeconds', 'in the place of connectTimeout; 5 by default'),
    deprecated: true,
  },
  connectTimeout: defined('duration', 'how long a connection to the server may take; 5s by default'),
  maxConnections: { type: 'integer', minimum: 1, description: '3 by default' },
  identity: {
    ...TEXT,
    description:
      "the name that clients dial; '$tunneler_id.name' and '$tunneler_id.tag[name]' stand for those of the host",
  },
  bindUsingEdgeIdentity: {
    type: 'boolean',
    description: "true for the host's own name, as identity '$tunneler_id.name' says",
  },
  cost: { type: 'integer', minimum: 0, maximum: 65_535, description: '0 by default' },
  precedence: {
    type: 'string',
    enum: ['default', 'required', 'failed'],
    description: "'default' by default",
  },
})

/** What is forwarded as the client dialed it needs a list of what is allowed; what is not needs a fixed value. */
function forwards(name: string, allowed: string, fixed: string): JsonSchemaDocument {
  return {
    if: { properties: { [name]: { const: true } }, required: [name] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON schema
    then: { required: [allowed] },
    else: { required: [fixed] },
  }
}

const TERMINATOR = {
  ...closed({
    protocol: defined('protocolName', 'the protocol by which the server is reached'),
    forwardProtocol: flag('the protocol that the client dialed, in the place of a fixed one'),
    allowedProtocols: inhabitedSetOf('protocolName', 'the protocols that clients may dial'),
    address: defined('dialAddress', 'the host name or IP address of the server'),
    forwardAddress: flag('the address that the client dialed, in the place of a fixed one'),
    allowedAddresses: inhabitedSetOf('listenAddress', 'the addresses that clients may dial'),
    forwardAddressTranslations: inhabitedSetOf('addressTranslation', 'how forwarded addresses are translated'),
    port: defined('portNumber', 'the port of the server'),
    forwardPort: flag('the port that the client dialed, in the place of a fixed one'),
    allowedPortRanges: inhabitedSetOf('portRange', 'the ports that clients may dial'),
    allowedSourceAddresses: inhabitedSetOf(
      'listenAddress',
      'the source addresses for which the host makes local routes',
    ),
    listenOptions: LISTEN_OPTIONS,
    proxy: defined('proxyConfiguration', 'the proxy through which the server is reached; none by default'),
    ...HEALTH_CHECKS,
  }),
  allOf: [
    forwards('forwardProtocol', 'allowedProtocols', 'protocol'),
    forwards('forwardAddress', 'allowedAddresses', 'address'),
    forwards('forwardPort', 'allowedPortRanges', 'port'),
  ],
}

/** Where a hosting endpoint sends the traffic of a service. */
export const HOST_V1 = { $id: `${SCHEMAS}/host.v1.schema.json`, definitions: DEFINITIONS, ...TERMINATOR }

/** The same for several servers at once. */
export const HOST_V2 = {
  $id: `${SCHEMAS}/host.v2.schema.json`,
  definitions: {
    ...DEFINITIONS,
    terminator: TERMINATOR,
    terminatorList: { type: 'array', items: defined('terminator'), minItems: 1 },
  },
  ...closed({ terminators: defined('terminatorList') }, ['terminators']),
}
