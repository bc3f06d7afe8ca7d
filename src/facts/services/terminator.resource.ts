import { z } from 'zod'
import { defineResource } from '../../kernel/declaration/define-resource.ts'
import { Base64, Cost, EntityRef, Id, Precedence, Text } from '../../kernel/declaration/fields.ts'
import { always, ofReference, type Resource, type ResourceDefinition } from '../../kernel/declaration/resource.ts'

const DEFINITION = {
  name: 'terminators',
  singular: 'terminator',
  storeName: 'terminators',
  permission: 'terminator',
  writable: {
    address: Text.min(1),
    binding: Text,
    cost: Cost.default(0),
    precedence: Precedence.default('default'),
    routerId: Id.min(1),
    serviceId: Id,
  },
  createOnly: { identity: Text.default(''), identitySecret: Base64.default('') },
  system: {
    hostId: z.string(),
    /** The API session and the service session by which an SDK registered it; null for other terminators, and when they were not stored. */
    apiSessionId: z.string().nullable(),
    sessionId: z.string().nullable(),
    peerData: z.record(z.string(), z.string()),
    /** The precedence to restore when its router is no longer spared; null while the router is not spared. */
    savedPrecedence: Precedence.nullable(),
  },
  derived: { dynamicCost: z.int(), router: EntityRef.nullable() },
  hidden: ['identitySecret', 'hostId', 'apiSessionId', 'sessionId', 'peerData', 'savedPrecedence'],
  undo: { hostId: 'bound', apiSessionId: 'bound', sessionId: 'bound' },
  required: ['address', 'binding', 'routerId', 'serviceId'],
  mostPerOwner: { owner: 'serviceId', limit: 'terminatorsPerService' },
  indexed: ['serviceId', 'routerId', 'hostId', 'apiSessionId', 'sessionId'],
  references: {
    serviceId: { to: 'services', onDelete: 'cascade', show: 'service' },
    routerId: { to: 'edge-routers', orTo: 'transit-routers', onDelete: 'cascade' },
    hostId: { to: 'identities', isLoose: true, onDelete: 'cascade' },
    apiSessionId: { to: 'api-sessions', isLoose: true, onDelete: 'cascade' },
    sessionId: { to: 'sessions', isLoose: true, onDelete: 'cascade' },
  },
  symbols: {
    identity: null,
    instanceId: 'identity',
    hostId: 'hostId',
    apiSessionId: null,
    sessionId: null,
    peerData: null,
    savedPrecedence: null,
    service: 'serviceId',
    router: 'routerId',
  },
  computed: {
    'router.name': ofReference('routerId', 'name'),
    'service.name': ofReference('serviceId', 'name'),
    sourceCtrl: always('string', ''),
  },
  quirks: { inputNames: { routerId: 'router', serviceId: 'service' } },
  operations: ['list', 'get', 'create', 'replace', 'patch', 'delete'],
} as const satisfies ResourceDefinition

/** The place where traffic of a service leaves the network: an address behind a router. */
export interface Terminators extends Resource<typeof DEFINITION> {}
export const terminators: Terminators = defineResource(DEFINITION, {
  address:
    'Where the router reaches the host of the service, as `tcp:host:port`; opaque for hosts that connect by an SDK.',
  binding: 'By which part of the router the address is reached, as `transport`, `udp`, `edge` or `tunnel`.',
  cost: 'The static cost of the terminator, 0 to 65535; 0 by default. Less is preferred.',
  precedence: 'Which terminators are tried first: `required`, then `default` (the default), then `failed`.',
  routerId: 'The id of the router at which traffic leaves the network.',
  serviceId: 'The id of the service that is reached. It never changes.',
  identity:
    'The instance that the terminator leads to, where clients may ask for one; empty for none. Settled at creation.',
  identitySecret:
    'The secret by which a second terminator may share the instance. Bytes in base64. Settled at creation, never shown.',
  dynamicCost: 'The cost by health and use that the data plane reports; 0 without a report.',
  router: 'What `routerId` names, as a reference; null when it names nothing.',
})
