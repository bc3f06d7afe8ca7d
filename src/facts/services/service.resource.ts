import { z } from 'zod'
import { defineResource } from '../../kernel/declaration/define-resource.ts'
import { Id, Instant, JsonObject, Links, Name, RoleAttributes, Tags, TextSet } from '../../kernel/declaration/fields.ts'
import { always, type Resource, type ResourceDefinition } from '../../kernel/declaration/resource.ts'
import { described } from '../../kernel/declaration/words.ts'

const QueriedProcess = described(z.object({ osType: z.string(), path: z.string() }), {
  osType: 'The operating system that the process is asked for on.',
  path: 'The path of its binary.',
})

/** A posture query to a client, for one posture check. */
const PostureQuery = described(
  z.object({
    _links: Links,
    createdAt: z.iso.datetime(),
    id: z.string(),
    tags: Tags,
    updatedAt: z.iso.datetime(),
    isPassing: z.boolean(),
    process: QueriedProcess.optional(),
    processes: z.array(QueriedProcess),
    promptGracePeriodSeconds: z.int().optional(),
    promptOnUnlock: z.boolean().optional(),
    promptOnWake: z.boolean().optional(),
    queryType: z.string(),
    timeout: z.int(),
    timeoutAt: z.iso.datetime().optional(),
    timeoutRemaining: z.int(),
  }),
  {
    _links: 'Where the posture check is found.',
    createdAt: 'When the posture check was created, RFC 3339.',
    id: 'The id of the posture check, which responses repeat.',
    tags: 'The tags of the posture check.',
    updatedAt: 'When the posture check or, for `MFA`, what it judges last changed, RFC 3339.',
    isPassing: 'Whether the posture check passes at present.',
    process: 'The process to report, for `PROCESS`; absent otherwise.',
    processes: 'The processes to report, for `PROCESS_MULTI`; empty otherwise.',
    promptGracePeriodSeconds:
      'The seconds for which a check goes on passing after an unlock or wake; absent when not told.',
    promptOnUnlock: 'True when a code is needed after the endpoint is unlocked; absent otherwise.',
    promptOnWake: 'True when a code is needed after the endpoint wakes; absent otherwise.',
    queryType: 'The kind of fact to report: the `typeId` of the posture check.',
    timeout: 'The seconds for which a report is good; -1 for ever.',
    timeoutAt: 'When the check fails without a new report, RFC 3339; absent when it does not.',
    timeoutRemaining: 'The seconds until then; -1 when the check does not fail by itself.',
  },
)

/** The posture queries of one service policy that grants the service to the caller. */
const PostureQueries = described(
  z.object({
    isPassing: z.boolean(),
    policyId: z.string(),
    policyType: z.enum(['Dial', 'Bind', 'Invalid']),
    postureQueries: z.array(PostureQuery),
  }),
  {
    isPassing: 'Whether all posture checks of the policy pass at present, so that it grants the service.',
    policyId: 'The id of the service policy; a text for people where no service policy stands behind the entry.',
    policyType: 'The right that the policy grants.',
    postureQueries: 'The facts to report for each posture check of the policy; empty when it has none.',
  },
)

const DEFINITION = {
  name: 'services',
  singular: 'service',
  storeName: 'services',
  permission: 'service',
  writable: {
    name: Name,
    configs: TextSet.default([]),
    maxIdleTimeMillis: z.int().min(0).default(0),
    roleAttributes: RoleAttributes.default([]),
    terminatorStrategy: z.enum(['smartrouting', 'random', 'weighted', 'sticky']).default('smartrouting'),
  },
  createOnly: { encryptionRequired: z.boolean().default(false) },
  derived: {
    config: z.record(z.string(), JsonObject),
    permissions: z.array(z.enum(['Dial', 'Bind', 'Invalid'])),
    postureQueries: z.array(PostureQueries),
  },
  required: ['name'],
  quirks: { nullWhenEmpty: ['configs', 'roleAttributes'], requiredAsDeployed: ['encryptionRequired'] },
  unique: ['name'],
  references: { configs: { to: 'configs', onDelete: 'clear' } },
  links: ['configs', 'service-edge-router-policies', 'service-policies', 'terminators'],
  computed: { isFabricOnly: always('boolean', false) },
  operations: ['get', 'create', 'replace', 'patch', 'delete'],
} as const satisfies ResourceDefinition

/** The services that can be dialed and bound on the network. */
export interface Services extends Resource<typeof DEFINITION> {}
export const services: Services = defineResource(DEFINITION, {
  configs: 'Ids of configs whose type is for services, at most one of each type. Empty by default.',
  maxIdleTimeMillis: 'Milliseconds after which an idle circuit to the service is closed; 0 (the default) for never.',
  terminatorStrategy: 'How a terminator is chosen for a new circuit; `smartrouting`, the least cost, by default.',
  encryptionRequired: 'Whether traffic must be encrypted from end to end; false by default. Settled at creation.',
  config:
    'The data of the configs that the reader sees, by the name of their type: those of the types that the request or the API session names.',
  permissions:
    'The rights of the reader to the service by policy: `Dial`, `Bind` or both; `Invalid` alone for nothing.',
  postureQueries:
    'The facts that the endpoint must report, for each service policy that grants the service to the reader.',
})

const VIEW_DEFINITION = {
  name: 'service-views',
  singular: 'service view',
  storeName: 'serviceViews',
  permission: 'ops',
  writable: {},
  system: {
    apiSessionId: Id,
    digest: z.string(),
    lastChangeAt: Instant,
    /** The store's revision of the view: an older view never replaces a newer view. */
    revision: z.int(),
  },
  required: [],
  indexed: ['apiSessionId'],
  references: { apiSessionId: { to: 'api-sessions', onDelete: 'cascade' } },
  operations: [],
} as const satisfies ResourceDefinition

/** The digest of the service list that an API session would see, and the instant of its last change; the id is the API session's. */
export interface ServiceViews extends Resource<typeof VIEW_DEFINITION> {}
export const serviceViews: ServiceViews = defineResource(VIEW_DEFINITION, {
  apiSessionId: 'The id of the API session that looked.',
  digest: 'SHA-256 of what it saw, hex.',
  lastChangeAt: 'Since when it sees that, RFC 3339.',
  revision: 'The revision of the store at which it looked.',
})
