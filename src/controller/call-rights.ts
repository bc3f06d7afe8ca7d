import { APIS } from '../apis/apis.ts'
import { OFFERED } from '../engine/entity-services.ts'
import type { HostEngine } from '../engine/host-engine.ts'
import type { HostEntityServices } from '../engine/host-entities.ts'
import type { Operation } from '../http/operations/operation.ts'

type Api = keyof typeof APIS
/** An operation of the APIs, by its API and its route. */
type Named = `${Api} ${string}`
/**
 * The operation of the APIs behind a method, or `host` for a method of the host alone. `withoutCall` marks a method
 * whose first parameter is no call: the host asks.
 */
export type Right = Named | 'host' | { readonly withoutCall: Named | 'host' }
type RightsOf<T> = {
  readonly [P in keyof T]: T[P] extends (...given: never) => unknown ? Right : { readonly [M in keyof T[P]]: Right }
}

const OF_HOST = { withoutCall: 'host' } as const
const LOGIN = 'client POST /authenticate'

/**
 * The operation of the APIs behind each method of the host's engine. The right to call the one is the right to call the
 * other: both follow from the declaration of the operation's row.
 */
export const RIGHTS: RightsOf<HostEngine> = {
  ...ofOffered(),
  apiSessions: { startFor: 'host', resolve: OF_HOST, end: 'management DELETE /api-sessions/{id}' },
  authentication: { byPassword: LOGIN, byCertificate: LOGIN, byExternalJwt: LOGIN },
  authenticators: {
    create: 'management POST /authenticators',
    replace: 'management PUT /authenticators/{id}',
    patch: 'management PATCH /authenticators/{id}',
    revertToEnrollment: 'management POST /authenticators/{id}/re-enroll',
    requestExtension: 'management POST /authenticators/{id}/request-extend',
  },
  enrollments: {
    create: 'management POST /enrollments',
    refresh: 'management POST /enrollments/{id}/refresh',
    delete: 'management DELETE /enrollments/{id}',
  },
  enrollment: {
    byOneTimeToken: 'client POST /enroll/ott',
    byClientCertificate: 'client POST /enroll/ottca',
    byPassword: 'client POST /enroll/updb',
  },
  routerEnrollment: { reEnroll: 'management POST /edge-routers/{id}/re-enroll' },
  identityState: {
    disable: 'management POST /identities/{id}/disable',
    enable: 'management POST /identities/{id}/enable',
  },
  mfa: { removeFrom: 'management DELETE /identities/{id}/mfa' },
  posture: { submit: 'client POST /posture-response-bulk' },
  revocations: { create: 'management POST /revocations' },
  sessions: { create: 'client POST /sessions', deleteOwn: 'client DELETE /sessions/{id}' },
  serviceConfigs: {
    associate: 'management POST /identities/{id}/service-configs',
    remove: 'management DELETE /identities/{id}/service-configs',
  },
  traces: { of: OF_HOST },
  trustAnchors: { list: 'portcullis GET /trust-anchors', trust: 'portcullis PUT /trust-anchors/{id}' },
  administratorRecovery: { resetPassword: 'host' },
  snapshots: { create: OF_HOST },
  webhookDeliveries: {
    rotateSecret: 'portcullis POST /webhooks/{id}/secret',
    deliveries: OF_HOST,
    resend: 'portcullis POST /webhooks/{id}/deliveries',
    drop: 'portcullis DELETE /webhooks/{id}/deliveries',
  },
  explain: { withoutCall: 'portcullis POST /explain' },
  findings: OF_HOST,
  prepareReach: OF_HOST,
  simulate: { withoutCall: 'portcullis POST /simulate' },
}

/** The rights of the engine's operations on the entities of each resource: those of its standard operations. */
function ofOffered(): RightsOf<HostEntityServices> {
  const rights = Object.entries(OFFERED).map(([member, { name }]) => [member, entityRights(name)])
  // Its members are those of the table.
  return Object.fromEntries(rights) as RightsOf<HostEntityServices>
}

function entityRights(name: string) {
  const one = `/${name}/{id}`
  const api: Api = APIS.management.some(({ shape }) => shape.route === `POST /${name}`) ? 'management' : 'portcullis'
  return {
    get: OF_HOST,
    find: OF_HOST,
    list: `${api} GET /${name}`,
    show: `${api} GET ${one}`,
    create: `${api} POST /${name}`,
    replace: `${api} PUT ${one}`,
    patch: `${api} PATCH ${one}`,
    delete: `${api} DELETE ${one}`,
  }
}

/** The row that decides the right to a method; undefined for a method of the host alone. */
export function rowOf(right: Right): Operation | undefined {
  const named = typeof right === 'object' ? right.withoutCall : right
  if (named === 'host') return undefined
  const place = named.indexOf(' ')
  const route = named.slice(place + 1)
  // The names of APIs hold no space.
  const row = APIS[named.slice(0, place) as Api].find(({ shape }) => shape.route === route)
  if (row === undefined) throw new TypeError(`no API has the operation ${named}`)
  return row
}
