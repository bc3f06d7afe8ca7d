import { z } from 'zod'
import { invalidField } from '../../base/errors.ts'
import type { Call } from '../../context/call.ts'
import type { ControllerEngine } from '../../engine/engine.ts'
import type { EdgeRouterPatch, TransitRouterPatch } from '../../facts/resources/wire-names.ts'
import { ControlListeners } from '../../facts/routers/router-fields.resource.ts'
import { transitRouters } from '../../facts/routers/transit-router.resource.ts'
import { services } from '../../facts/services/service.resource.ts'
import { terminators } from '../../facts/services/terminator.resource.ts'
import { crudForAdmins } from '../../http/operations/crud.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'
import { Created, created, DONE, done } from '../../http/operations/operation.ts'
import { Cost, Name, Precedence, Tags, TextSet } from '../../kernel/declaration/fields.ts'
import { described } from '../../kernel/declaration/words.ts'

const SERVICE_WORDS = {
  name: 'The name of the service; no other service has it.',
  terminatorStrategy: 'How one of several terminators is chosen: `smartrouting`, `weighted`, `random` or `sticky`.',
  maxIdleTimeMillis: 'Milliseconds without traffic after which circuits end; 0 for never.',
  tags: 'Names and values for the administrators of the network.',
}
const Strategy = z.enum(['smartrouting', 'weighted', 'random', 'sticky'])
const ServiceBody = described(
  z.object({
    name: Name,
    terminatorStrategy: Strategy.default('smartrouting'),
    maxIdleTimeMillis: z.int().min(0).default(0),
    tags: Tags.default({}),
  }),
  SERVICE_WORDS,
)
const ServicePatch = described(
  z.object({
    name: Name.exactOptional(),
    terminatorStrategy: Strategy.exactOptional(),
    maxIdleTimeMillis: z.int().min(0).exactOptional(),
    tags: Tags.exactOptional(),
  }),
  SERVICE_WORDS,
)

const ADMIN = 'admin'
const CHANGE_ERRORS = ['NOT_FOUND', 'ENTITY_CAN_NOT_BE_UPDATED'] as const

/** Services as the fabric API changes them: their roles, configs and encryption stay as they are. */
export const fabricServiceChanges = {
  create: defineOperation(
    {
      route: 'POST /services',
      summary: 'Creates one service',
      description:
        'It needs no end-to-end encryption, and has no roles and no configs until the management API gives it some.',
      access: ADMIN,
      body: ServiceBody,
      data: Created,
      status: 201,
    },
    async ({ engine, call, body }) => {
      const { id } = await engine.services.create(call, { ...body, encryptionRequired: false })
      return created(services, id)
    },
  ),
  replace: defineOperation(
    {
      route: 'PUT /services/{id}',
      summary: 'Replaces the name, strategy, idle time and tags of one service',
      access: ADMIN,
      body: ServiceBody,
      errors: CHANGE_ERRORS,
    },
    async ({ engine, call, params, body }) => done(engine.services.patch(call, params.id, body)),
  ),
  patch: defineOperation(
    {
      route: 'PATCH /services/{id}',
      summary: 'Changes the name, strategy, idle time or tags of one service',
      access: ADMIN,
      body: ServicePatch,
      errors: CHANGE_ERRORS,
    },
    async ({ engine, call, params, body }) => done(engine.services.patch(call, params.id, body)),
  ),
  ...crudForAdmins(services, ['delete']),
}

const ROUTER_WORDS = {
  name: 'The name of the router; no other router has it.',
  cost: 'The cost of a path through the router, 0 to 65535.',
  noTraversal: 'True for a router that no traffic passes on its way to another one.',
  disabled: 'True for a router that may not connect.',
  configs: 'Ids of configs whose type is for routers, at most one of each type.',
  ctrlChanListeners: "Further addresses of the router's control channel, each with the names of its groups.",
  fingerprint: 'The SHA-1 of its certificate, as it is: the router changes it by a renewal.',
  tags: 'Names and values for the administrators of the network.',
}
/** The reason why the certificate of a router is no field that a change may set. */
const RENEWS = 'the router renews its certificate itself; a router of another certificate is deleted and created again'
const CertificateFingerprint = z
  .string()
  .regex(/^([0-9a-f]{40})?$/i, 'must be the SHA-1 of a certificate: 40 hexadecimal digits')
const RouterId = z.string().regex(/^[\w.-]{0,64}$/, 'must be at most 64 letters, digits, and characters of ._-')
const RouterBody = described(
  z.object({
    name: Name,
    cost: Cost.default(0),
    noTraversal: z.boolean().default(false),
    disabled: z.boolean().default(false),
    configs: TextSet.exactOptional(),
    ctrlChanListeners: ControlListeners.exactOptional(),
    fingerprint: CertificateFingerprint.exactOptional(),
    tags: Tags.default({}),
  }),
  ROUTER_WORDS,
)
const RouterPatch = described(
  z.object({
    name: Name.exactOptional(),
    cost: Cost.exactOptional(),
    noTraversal: z.boolean().exactOptional(),
    disabled: z.boolean().exactOptional(),
    configs: TextSet.exactOptional(),
    ctrlChanListeners: ControlListeners.exactOptional(),
    fingerprint: CertificateFingerprint.exactOptional(),
    tags: Tags.exactOptional(),
  }),
  ROUTER_WORDS,
)

const NewRouter = described(RouterBody.extend({ id: RouterId.exactOptional() }), {
  ...ROUTER_WORDS,
  id: 'The id in the certificate of the router, together with `fingerprint`. Empty for a router that enrolls.',
  fingerprint:
    'The SHA-1 of the certificate by which the router connects: the network issued it for the router with this `id`. Empty for a router that enrolls.',
})

/** Routers of both kinds as the fabric API changes them. */
export const fabricRouterChanges = {
  create: defineOperation(
    {
      route: 'POST /routers',
      summary: 'Creates one transit router',
      description:
        'It connects once it enrolled with the token that the management API shows of it. With `id` and `fingerprint` it needs no enrollment: it connects by a certificate that the network issued before.',
      access: ADMIN,
      body: NewRouter,
      data: Created,
      status: 201,
      errors: ['NOT_FOUND'],
    },
    async ({ engine, call, body: { id = '', fingerprint = '', ...fields } }) => {
      if (id !== '' && fingerprint === '') throw invalidField('fingerprint', 'a router with a given id needs it', '')
      if (fingerprint !== '' && id === '') throw invalidField('id', 'a router with a given certificate needs it', '')
      const restored = { fingerprint: fingerprint.toLowerCase(), isVerified: true }
      const router = await engine.of(transitRouters).create(call, fields, id === '' ? undefined : { id, restored })
      return created(transitRouters, router.id)
    },
  ),
  replace: defineOperation(
    {
      route: 'PUT /routers/{id}',
      summary: 'Replaces the name, costs and tags of one router',
      access: ADMIN,
      body: RouterBody,
      errors: CHANGE_ERRORS,
    },
    async ({ engine, call, params, body: { fingerprint, ...body } }) =>
      done((await routersLike(engine, params.id, fingerprint)).patch(call, params.id, body)),
  ),
  patch: defineOperation(
    {
      route: 'PATCH /routers/{id}',
      summary: 'Changes the name, costs or tags of one router',
      access: ADMIN,
      body: RouterPatch,
      errors: CHANGE_ERRORS,
    },
    async ({ engine, call, params, body: { fingerprint, ...body } }) =>
      done((await routersLike(engine, params.id, fingerprint)).patch(call, params.id, body)),
  ),
  delete: defineOperation(
    {
      route: 'DELETE /routers/{id}',
      summary: 'Deletes one router',
      description: 'It is disconnected at once, and its terminators go with it.',
      access: ADMIN,
      errors: ['CAN_NOT_DELETE_REFERENCED_ENTITY'],
    },
    async ({ engine, call, params }) => done((await routersLike(engine, params.id)).delete(call, params.id)),
  ),
} as const

const TERMINATOR_WORDS = {
  service: 'The id of the service that is reached.',
  router: 'The id of the router at which traffic leaves the network.',
  binding: 'By which part of the router the address is reached, as `transport`.',
  address: 'Where the router reaches the host of the service, as `tcp:host:port`.',
  cost: 'The static cost, 0 to 65535.',
  precedence: 'Which terminators are tried first: `required`, then `default`, then `failed`.',
  tags: 'Names and values for the administrators of the network.',
}
const TerminatorBody = described(
  z.object({
    service: z.string(),
    router: z.string(),
    binding: z.string(),
    address: z.string().min(1),
    instanceId: z.string().default(''),
    instanceSecret: z.string().default(''),
    hostId: z.string().default(''),
    cost: Cost.default(0),
    precedence: Precedence.default('default'),
    tags: Tags.default({}),
  }),
  {
    ...TERMINATOR_WORDS,
    instanceId: 'The instance that the terminator leads to; empty for none.',
    instanceSecret: 'The secret by which a second terminator may share the instance, in base64.',
    hostId: 'Empty: who hosts at a router says so by connecting to it.',
  },
)
const TerminatorPatch = described(
  z.object({
    service: z.string().exactOptional(),
    router: z.string().exactOptional(),
    binding: z.string().exactOptional(),
    address: z.string().min(1).exactOptional(),
    cost: Cost.exactOptional(),
    precedence: Precedence.exactOptional(),
    tags: Tags.exactOptional(),
  }),
  TERMINATOR_WORDS,
)

/** Terminators as the fabric API changes them. */
export const fabricTerminatorChanges = {
  create: defineOperation(
    {
      route: 'POST /terminators',
      summary: 'Creates one terminator',
      access: ADMIN,
      body: TerminatorBody,
      data: Created,
      status: 201,
      errors: ['NOT_FOUND'],
    },
    async ({ engine, call, body }) => {
      const { instanceId: identity, instanceSecret: identitySecret, hostId, ...facts } = body
      if (hostId !== '')
        throw invalidField(
          'hostId',
          'the host of a terminator at a router is the endpoint that is connected to it',
          hostId,
        )
      const { id } = await engine.terminators.create(call, { ...facts, identity, identitySecret })
      return created(terminators, id)
    },
  ),
  replace: defineOperation(
    {
      route: 'PUT /terminators/{id}',
      summary: 'Replaces one terminator',
      access: ADMIN,
      body: TerminatorBody,
      errors: CHANGE_ERRORS,
    },
    async ({ engine, call, params, body }) => {
      const { instanceId: _instance, instanceSecret: _secret, hostId: _host, ...facts } = body
      await engine.terminators.replace(call, params.id, facts)
      return DONE
    },
  ),
  patch: defineOperation(
    {
      route: 'PATCH /terminators/{id}',
      summary: 'Changes parts of one terminator',
      access: ADMIN,
      body: TerminatorPatch,
      errors: CHANGE_ERRORS,
    },
    async ({ engine, call, params, body }) => done(engine.terminators.patch(call, params.id, body)),
  ),
  ...crudForAdmins(terminators, ['delete']),
}

interface Routers {
  patch(call: Call, id: string, body: EdgeRouterPatch & TransitRouterPatch): Promise<unknown>
  delete(call: Call, id: string): Promise<void>
}

/** The service of edge routers or of transit routers, by the kind of the router with an id; refuses another certificate for it. */
async function routersLike(engine: ControllerEngine, id: string, fingerprint = ''): Promise<Routers> {
  const { router } = await engine.dataPlane.router(id)
  const isOther = fingerprint !== '' && fingerprint.toLowerCase() !== router.fingerprint
  if (isOther) throw invalidField('fingerprint', RENEWS, fingerprint)
  if ('isTunnelerEnabled' in router) return engine.edgeRouters
  return engine.transitRouters
}
