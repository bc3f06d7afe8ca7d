/** A JSON schema, draft 7, as plain data. */
export type JsonSchemaDocument = Readonly<Record<string, unknown>>

/** The schema of an object with only these members. */
export function closed(properties: JsonSchemaDocument, required: readonly string[] = []): JsonSchemaDocument {
  const needs = required.length === 0 ? {} : { required: [...required] }
  return { type: 'object', additionalProperties: false, properties, ...needs }
}

/** Refers to a definition of the schema by name; clients show the description beside the field. */
export function defined(name: string, description?: string): JsonSchemaDocument {
  return { $ref: `#/definitions/${name}`, ...(description !== undefined && { description }) }
}

/**
 * A list of at least one distinct element. Its type is given by reference: the admin console writes an empty list into every member with
 * `type: array`, and this list must not be empty.
 */
function inhabitedSetOf(name: string, description?: string): JsonSchemaDocument {
  return {
    allOf: [defined('inhabitedSet'), { items: defined(name) }],
    ...(description !== undefined && { description }),
  }
}

export const TEXT = { type: 'string' } as const
const PORT = { type: 'integer', minimum: 0, maximum: 65_535 } as const
export const PROTOCOL = { type: 'string', enum: ['tcp', 'udp'] } as const

/** A host name, IP address, CIDR block or wildcard domain. Validators do not check the format; only empty text is refused. */
const ADDRESS = { type: 'string', format: 'idn-hostname', not: { pattern: '^$' } } as const

function translation(format: 'ipv4' | 'ipv6', longestPrefix: number): JsonSchemaDocument {
  const address = { type: 'string', format }
  return closed({ from: address, to: address, prefixLength: { type: 'integer', minimum: 0, maximum: longestPrefix } })
}

/** Definitions that the schemas of intercepting and hosting share, under the names that deployed clients know. */
const TUNNEL_DEFINITIONS = {
  addressTranslation: { oneOf: [defined('ipv4AddressTranslation'), defined('ipv6AddressTranslation')] },
  dialAddress: ADDRESS,
  inhabitedSet: { type: 'array', minItems: 1, uniqueItems: true },
  ipv4AddressTranslation: translation('ipv4', 32),
  ipv6AddressTranslation: translation('ipv6', 128),
  listenAddress: {
    ...ADDRESS,
    description: 'A host name, IP address, CIDR block or wildcard domain; any other text is a host name.',
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

/** The addresses and ports that a tunneler intercepts for a service, and its dialing. */
export const INTERCEPT_V1 = {
  $id: 'http://edge.openziti.org/schemas/intercept.v1.config.json',
  definitions: TUNNEL_DEFINITIONS,
  ...closed(
    {
      protocols: inhabitedSetOf('protocolName'),
      addresses: inhabitedSetOf('listenAddress'),
      portRanges: inhabitedSetOf('portRange'),
      dialOptions: closed({
        identity: {
          ...TEXT,
          description:
            "the terminator to dial, by its identity; '$dst_protocol', '$dst_ip' and '$dst_port' stand for what was intercepted",
        },
        connectTimeoutSeconds: defined('timeoutSeconds', '15 by default, and 5 without any dialOptions'),
      }),
      sourceIp: {
        ...TEXT,
        description:
          "the source address, with a port or without, of the connection to the server; '$tunneler_id.name', '$tunneler_id.tag[name]', '$src_ip', '$src_port' and '$dst_port' stand for those of the client",
      },
      allowedSourceAddresses: inhabitedSetOf(
        'listenAddress',
        'the source addresses whose traffic is intercepted; any by default',
      ),
    },
    ['protocols', 'addresses', 'portRanges'],
  ),
}

/** Definitions that {@link HEALTH_CHECKS} refer to. */
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
  // A duration such as `5s` or `300ms`; deployed controllers accept it anywhere in the text.
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

/** The health checks of a hosting endpoint on its server: by connecting to a port, or by HTTP requests. */
const HEALTH_CHECKS = { portChecks: defined('portCheckList'), httpChecks: defined('httpCheckList') } as const

const SCHEMAS = 'http://ziti-edge.netfoundry.io/schemas'
const DEFINITIONS = { ...HEALTH_CHECK_DEFINITIONS, ...TUNNEL_DEFINITIONS } as const

/** Describes a flag that is true or absent. */
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

/** Describes forwarding: to the client's dialed value, limited by a list of allowed values, or to a fixed value. */
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

/** The destination at which a hosting endpoint reaches the server of a service. */
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

const TUNNELER_SCHEMAS = 'http://edge.openziti.org/schemas'

/** The address at which an old tunneler intercepts a service. */
export const TUNNELER_CLIENT_V1 = {
  $id: `${TUNNELER_SCHEMAS}/ziti-tunneler-client.v1.config.json`,
  ...closed({ hostname: TEXT, port: PORT }, ['hostname', 'port']),
}

/** The destination at which an old tunneler reaches the server of a service that it hosts. */
export const TUNNELER_SERVER_V1 = {
  $id: `${TUNNELER_SCHEMAS}/ziti-tunneler-server.v1.config.json`,
  definitions: HEALTH_CHECK_DEFINITIONS,
  ...closed(
    {
      protocol: { type: ['string', 'null'], enum: ['tcp', 'udp'] },
      hostname: TEXT,
      port: PORT,
      ...HEALTH_CHECKS,
    },
    ['hostname', 'port'],
  ),
}
