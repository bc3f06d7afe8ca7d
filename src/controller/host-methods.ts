import { APIS } from '../apis/apis.ts'
import { callerForHost, SYSTEM_CALL } from '../context/call.ts'
import type { ControllerEngine } from '../engine/engine.ts'
import { OFFERED } from '../engine/entity-services.ts'
import type { CallEngine, HostEngine, HostMethods } from '../engine/host-engine.ts'
import type { HostEntities, HostEntityServices, HostReader } from '../engine/host-entities.ts'
import { accessRequests } from '../facts/access/access-request.resource.ts'
import { sessions } from '../facts/access/session.resource.ts'
import { authenticators } from '../facts/credentials/authenticator.resource.ts'
import { enrollments } from '../facts/enrollment/enrollment.resource.ts'
import { revocations } from '../facts/login/revocation.resource.ts'
import type { Resource } from '../kernel/declaration/resource.ts'
import { listedBy, type OperationName, shown, shownBy } from './wire-answers.ts'

type Work<F> = F extends (...given: infer Given) => infer Answer
  ? (engine: ControllerEngine, ...given: Given) => Answer
  : never

/** A method that takes a call: the operations of the APIs whose rights it needs, each of them, and its work. */
export type MethodRow<F> = readonly [needs: readonly OperationName[], work: Work<F>]
type RowsOf<T> = { readonly [P in keyof T]: { readonly [M in keyof T[P]]: MethodRow<T[P][M]> } }

type AnyForm = Readonly<Record<string, unknown>>
type AnyEntities = HostEntities<AnyForm, AnyForm, AnyForm, AnyForm>

const LOGIN = 'client POST /authenticate'
const SHOW_AUTHENTICATOR = 'management GET /authenticators/{id}'
const SHOW_ENROLLMENT = 'management GET /enrollments/{id}'
const SERVICE_CONFIGS = '/identities/{id}/service-configs'

/** The standard operations on the entities of each resource. */
const ENTITIES = Object.fromEntries(
  Object.entries(OFFERED).map(([member, resource]) => [member, offered(resource)]),
  // Each follows from the declaration of its resource, as the types of its member do.
) as unknown as RowsOf<HostEntityServices>

/**
 * Every method of the host's engine that takes a call. Its rights are those of the operations that it names: both follow from the
 * declarations of their rows. A method that answers the entity that it wrote needs the right to read it too.
 */
export const METHODS: RowsOf<Pick<HostEngine, keyof CallEngine>> = {
  ...ENTITIES,
  access: {
    explain: [['portcullis POST /explain'], (engine, _call, ...question) => engine.explain(...question)],
    simulate: [['portcullis POST /simulate'], (engine, _call, ...question) => engine.simulate(...question)],
  },
  accessRequests: {
    ...reading('portcullis', 'access-requests'),
    create: [
      ['portcullis POST /access-requests'],
      async (engine, call, request) =>
        shown(engine, call, accessRequests, await engine.accessRequests.create(call, request)),
    ],
    approve: [
      ['portcullis POST /access-requests/{id}/approve'],
      async (engine, ...given) =>
        shown(engine, given[0], accessRequests, await engine.accessRequests.approve(...given)),
    ],
    refuse: [
      ['portcullis POST /access-requests/{id}/refuse'],
      async (engine, ...given) => shown(engine, given[0], accessRequests, await engine.accessRequests.refuse(...given)),
    ],
    withdraw: [
      ['portcullis POST /access-requests/{id}/withdraw'],
      async (engine, call, id) => shown(engine, call, accessRequests, await engine.accessRequests.withdraw(call, id)),
    ],
  },
  apiSessions: {
    ...reading('management', 'api-sessions'),
    delete: [['management DELETE /api-sessions/{id}'], (engine, call, id) => engine.apiSessions.end(call, id)],
  },
  authentication: {
    byPassword: [[LOGIN], async (engine, ...given) => callerForHost(await engine.authentication.byPassword(...given))],
    byCertificate: [
      [LOGIN],
      async (engine, ...given) => callerForHost(await engine.authentication.byCertificate(...given)),
    ],
    byExternalJwt: [
      [LOGIN],
      async (engine, ...given) => callerForHost(await engine.authentication.byExternalJwt(...given)),
    ],
  },
  authenticators: {
    ...reading('management', 'authenticators'),
    create: [
      ['management POST /authenticators', SHOW_AUTHENTICATOR],
      async (engine, call, request) =>
        shown(engine, call, authenticators, await engine.authenticators.create(call, request)),
    ],
    replace: [
      ['management PUT /authenticators/{id}', SHOW_AUTHENTICATOR],
      async (engine, call, id, request) => {
        await engine.authenticators.replace(call, id, request)
        return shownBy(SHOW_AUTHENTICATOR, engine, call, id)
      },
    ],
    patch: [
      ['management PATCH /authenticators/{id}', SHOW_AUTHENTICATOR],
      async (engine, call, id, request) => {
        await engine.authenticators.patch(call, id, request)
        return shownBy(SHOW_AUTHENTICATOR, engine, call, id)
      },
    ],
    delete: [
      ['management DELETE /authenticators/{id}'],
      (engine, call, id) => engine.of(authenticators).delete(call, id),
    ],
    revertToEnrollment: [
      ['management POST /authenticators/{id}/re-enroll', SHOW_ENROLLMENT],
      async (engine, call, id, request) =>
        shownBy(SHOW_ENROLLMENT, engine, call, await engine.authenticators.revertToEnrollment(call, id, request)),
    ],
    requestExtension: [
      ['management POST /authenticators/{id}/request-extend'],
      (engine, ...given) => engine.authenticators.requestExtension(...given),
    ],
  },
  edgeRouters: {
    ...ENTITIES.edgeRouters,
    reEnroll: [
      ['management POST /edge-routers/{id}/re-enroll'],
      (engine, call, id) => engine.routerEnrollment.reEnroll(call, id),
    ],
  },
  enrollment: {
    byOneTimeToken: [['client POST /enroll/ott'], (engine, ...given) => engine.enrollment.byOneTimeToken(...given)],
    byClientCertificate: [
      ['client POST /enroll/ottca'],
      (engine, ...given) => engine.enrollment.byClientCertificate(...given),
    ],
    byPassword: [['client POST /enroll/updb'], (engine, ...given) => engine.enrollment.byPassword(...given)],
  },
  enrollments: {
    ...reading('management', 'enrollments'),
    create: [
      ['management POST /enrollments', SHOW_ENROLLMENT],
      async (engine, call, request) => shown(engine, call, enrollments, await engine.enrollments.create(call, request)),
    ],
    refresh: [
      ['management POST /enrollments/{id}/refresh'],
      (engine, call, id, request) => engine.enrollments.refresh(call, id, request),
    ],
    delete: [['management DELETE /enrollments/{id}'], (engine, call, id) => engine.enrollments.delete(call, id)],
  },
  identities: {
    ...ENTITIES.identities,
    disable: [
      ['management POST /identities/{id}/disable'],
      (engine, call, id, request) => engine.identityState.disable(call, id, request),
    ],
    enable: [['management POST /identities/{id}/enable'], (engine, call, id) => engine.identityState.enable(call, id)],
    grantAttribute: [
      ['portcullis POST /identities/{id}/attribute-grants'],
      (engine, ...given) => engine.attributeGrants.give(...given),
    ],
    endAttributeGrant: [
      ['portcullis DELETE /identities/{id}/attribute-grants/{grantId}'],
      (engine, ...given) => engine.attributeGrants.end(...given),
    ],
    removeMfa: [['management DELETE /identities/{id}/mfa'], (engine, call, id) => engine.mfa.removeFrom(call, id)],
    associateServiceConfigs: [
      [`management POST ${SERVICE_CONFIGS}`],
      (engine, call, id, pairs) => engine.serviceConfigs.associate(call, id, [...pairs]),
    ],
    removeServiceConfigs: [
      [`management DELETE ${SERVICE_CONFIGS}`],
      (engine, call, id, pairs) => engine.serviceConfigs.remove(call, id, [...pairs]),
    ],
  },
  posture: {
    submit: [['client POST /posture-response-bulk'], (engine, ...given) => engine.posture.submit(...given)],
  },
  revocations: {
    ...reading('management', 'revocations'),
    create: [
      ['management POST /revocations', 'management GET /revocations/{id}'],
      async (engine, call, request) => shown(engine, call, revocations, await engine.revocations.create(call, request)),
    ],
  },
  sessions: {
    ...reading('management', 'sessions'),
    create: [
      ['client POST /sessions'],
      async (engine, call, request) => {
        const { session, token } = await engine.sessions.create(call, request)
        return { session: await shown(engine, call, sessions, session), token }
      },
    ],
    delete: [['management DELETE /sessions/{id}'], (engine, call, id) => engine.of(sessions).delete(call, id)],
    deleteOwn: [['client DELETE /sessions/{id}'], (engine, call, id) => engine.sessions.deleteOwn(call, id)],
  },
  trustAnchors: {
    list: [['portcullis GET /trust-anchors'], (engine, call) => engine.trustAnchors.list(call)],
    trust: [['portcullis PUT /trust-anchors/{id}'], (engine, ...given) => engine.trustAnchors.trust(...given)],
  },
  webhooks: {
    ...ENTITIES.webhooks,
    rotateSecret: [
      ['portcullis POST /webhooks/{id}/secret'],
      (engine, call, id) => engine.webhookDeliveries.rotateSecret(call, id),
    ],
    deliveries: [
      ['portcullis GET /webhooks/{id}/deliveries'],
      (engine, _call, id) => engine.webhookDeliveries.deliveries(id),
    ],
    resend: [
      ['portcullis POST /webhooks/{id}/deliveries'],
      (engine, ...given) => engine.webhookDeliveries.resend(...given),
    ],
    drop: [
      ['portcullis DELETE /webhooks/{id}/deliveries'],
      (engine, ...given) => engine.webhookDeliveries.drop(...given),
    ],
  },
}

/** The methods of the host alone. */
export function hostMethods(engine: ControllerEngine): HostMethods {
  return {
    startSession: async (identity, client) =>
      callerForHost(await engine.apiSessions.startFor(SYSTEM_CALL, identity, client)),
    resolve: async (...given) => {
      const caller = await engine.apiSessions.resolve(...given)
      return caller && callerForHost(caller)
    },
    resetAdminPassword: (reset) => engine.administratorRecovery.resetPassword(SYSTEM_CALL, reset),
    snapshot: () => engine.snapshots.create(),
    traceOf: (identityId) => engine.traces.of(identityId),
    findings: () => engine.findings(),
    prepareReach: () => engine.prepareReach(),
  }
}

/** The standard operations on the entities of a resource. */
function offered(resource: Resource): RowsOf<{ readonly entities: AnyEntities }>['entities'] {
  const { name } = resource
  const api = APIS.management.some(({ shape }) => shape.route === `POST /${name}`) ? 'management' : 'portcullis'
  const show: OperationName = `${api} GET /${name}/{id}`
  return {
    ...reading<AnyForm>(api, name),
    create: [
      [`${api} POST /${name}`, show],
      async (engine, call, request) => shown(engine, call, resource, await engine.of(resource).create(call, request)),
    ],
    replace: [
      [`${api} PUT /${name}/{id}`, show],
      async (engine, call, id, request) =>
        shown(engine, call, resource, await engine.of(resource).replace(call, id, request)),
    ],
    patch: [
      [`${api} PATCH /${name}/{id}`, show],
      async (engine, call, id, request) =>
        shown(engine, call, resource, await engine.of(resource).patch(call, id, request)),
    ],
    delete: [[`${api} DELETE /${name}/{id}`], (engine, call, id) => engine.of(resource).delete(call, id)],
  }
}

/** The operations that read the entities of a resource. */
function reading<Shown>(
  api: 'management' | 'portcullis',
  name: string,
): RowsOf<{ readonly entities: HostReader<Shown> }>['entities'] {
  const show: OperationName = `${api} GET /${name}/{id}`
  const list: OperationName = `${api} GET /${name}`
  return {
    get: [[show], (engine, call, id) => shownBy(show, engine, call, id)],
    list: [[list], (engine, call, question) => listedBy(list, engine, call, question)],
  }
}
