import { resume } from '../access/service-sessions/enforcement.ts'
import { APIS } from '../apis/apis.ts'
import { writeApiDocuments } from '../apis/documents.ts'
import { checkOptions, type OptionRules } from '../base/arguments.ts'
import { runEach } from '../concurrency/call-isolated.ts'
import { Lifetime } from '../concurrency/lifetime.ts'
import { SYSTEM_CALL } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import type { Timetable } from '../context/timetable.ts'
import { publishSigningKey } from '../credentials/signing-keys.ts'
import { bootstrap } from '../engine/bootstrap.ts'
import { lookForEnds } from '../engine/due-work.ts'
import type { ControllerEngine } from '../engine/engine.ts'
import { contextOf } from '../engine/entity-services.ts'
import { inviteIdentity, inviteRouter } from '../enrollment/invite.ts'
import { controllerIdOf } from '../fabric/controller-id.ts'
import { type DeployedEvent, DeployedEvents } from '../fabric/operators/deployed-events.ts'
import type { ControlPlane, ControlPlaneOptions } from '../facts/fabric/messages/index.ts'
import type { EdgeRouters } from '../facts/routers/edge-router.resource.ts'
import type { TransitRouters } from '../facts/routers/transit-router.resource.ts'
import { type PlainFetch, webFetch } from '../http/exchange.ts'
import { ownedPaths } from '../http/owned-paths.ts'
import { withCors } from '../http/pipeline/cors.ts'
import { answerHeaders, type ControllerIdentity } from '../http/pipeline/envelope.ts'
import { createHandler, type OpenIdApi, type WatchedFetch } from '../http/pipeline/handler.ts'
import { readWebBody } from '../http/pipeline/read-input.ts'
import { followDirectoryChanges } from '../identities/directory-changes.ts'
import type { AppliedModel, ModelInput } from '../model/index.ts'
import type { Presence } from '../routers/presence.ts'
import { BUILD_DATE, VERSION } from '../version.ts'
import { EventDeliveries } from '../webhooks/event-deliveries.ts'
import { type Composition, composeEngine } from './compose-engine.ts'
import type { Controller } from './controller.ts'
import type { ControllerOptions } from './controller-options.ts'
import { engineForCall, engineForHost } from './guarded-engine.ts'
import { joinWrite } from './joint-writes.ts'
import { observe } from './observe.ts'
import { warnAtStart } from './warn-at-start.ts'

/** Applies a model to the network of an engine. It is loaded by a controller that is given a model. */
export type ApplyModel = (
  engine: ControllerEngine,
  model: ModelInput,
  options: Pick<ControllerOptions, 'prune'>,
) => Promise<AppliedModel>

const APPLY_OPTIONS: OptionRules<Pick<ControllerOptions, 'prune'>> = { prune: 'boolean' }

/** Puts a controller together and starts its own work, as `createController` promises. */
export async function assembleController(options: ControllerOptions, applyModel: ApplyModel): Promise<Controller> {
  const composition = await composeEngine(options)
  const { engine, server, presence, processId, timetable, events } = composition
  const { storage } = options
  const lifetime = new Lifetime('the controller is closed')
  const deliveries = new EventDeliveries(contextOf(engine), processId)
  const isClosed = () => !lifetime.isOpen
  const defaultAdmin = await bootstrap(contextOf(engine), options.admin)
  await resumeWork(engine, timetable)
  const stop = () =>
    runEach([() => timetable.close(), () => presence.close(), () => engine.auditTrail.close()], () => undefined)
  const { model, prune = false } = options
  if (model !== undefined) {
    await applyModel(engine, model, { prune }).catch(async (error: unknown) => {
      await stop()
      throw error
    })
  }
  if ('joinedBy' in storage) storage.joinedBy((tx) => joinWrite(engine, tx))
  await warnAtStart(contextOf(engine), options)
  const identity = { instanceId: processId, version: options.reportedVersion ?? `v${VERSION}` }
  const fetch = await pipelineOf(composition, options, identity, isClosed)
  const answering = withCors(fetch, options.cors?.origins ?? [])
  const observed = observe(answering, composition, options, isClosed)
  const referred = options.apiPage ? await referenced(observed.fetch) : observed.fetch
  const now = () => contextOf(engine).clock.now()
  if (options.webhooks !== false) deliveries.start()
  const unfollow = followDirectoryChanges(contextOf(engine))
  const close = () =>
    lifetime.close(
      async () => unfollow(),
      async () => engine.timelines.closeAll(),
      () => observed.stop(),
      () => deliveries.close(),
      () => timetable.close(),
      () => presence.close(),
      () => engine.auditTrail.close(),
      () => storage.close(),
    )
  return {
    fetch: webFetch(referred, readWebBody),
    owns: ownedPaths(APIS.client, { probes: Boolean(options.probes), oidc: options.oidc !== false }),
    answerHeaders: answerHeaders(identity),
    engine: engineForHost(engine),
    as: (who) => engineForCall(engine, who),
    invite: (name, given) => inviteIdentity(engineForCall(engine, SYSTEM_CALL), name, now(), given),
    inviteRouter: (name, given) => inviteRouter(engineForCall(engine, SYSTEM_CALL), name, now(), given),
    apply: async (given, applying = {}) => {
      lifetime.assertOpen()
      checkOptions('apply', applying, APPLY_OPTIONS)
      return applyModel(engine, given, applying)
    },
    events: {
      on: events.on,
      subscribe: (name, handler, wanted) => deliveries.subscribe(name, handler, wanted),
      deployed: (listener, kinds) => deployedEvents(contextOf(engine), processId, listener, kinds),
    },
    presence,
    hasAdmin: defaultAdmin.hasAdmin,
    hasOtherAdmin: defaultAdmin.hasOtherCredentials,
    tls: () => {
      if (isClosed()) throw new Error('the controller is closed')
      return server.tls()
    },
    replaceServerCertificate: async (source) => {
      await server.replace(source)
      await publishSigningKey(contextOf(engine))
      await engine.keyRotation.resume()
    },
    changeAddress: composition.changeAddress,
    get caPem() {
      return engine.network.caPem
    },
    openFabric: (fabricOptions) => openFabric(engine, presence, fabricOptions),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Takes up the work that an earlier process left, and everything that time brings. */
async function resumeWork(engine: ControllerEngine, timetable: Timetable): Promise<void> {
  await resume(contextOf(engine))
  lookForEnds(contextOf(engine))
  // A process that ended between the commit of a withdrawal and the end of its logins left their claims in force.
  timetable.notLater('withdrawn', 'every API session', contextOf(engine).clock.now())
  await engine.revocations.resume()
  engine.auditTrail.resume()
  await publishSigningKey(contextOf(engine))
  await engine.keyRotation.resume()
}

async function pipelineOf(
  { engine, limits, profile, logger, random }: Composition,
  options: ControllerOptions,
  identity: ControllerIdentity,
  isClosed: () => boolean,
): Promise<WatchedFetch> {
  const { version } = identity
  const apis = { ...APIS, openid: await openIdOf(engine, options) }
  return createHandler(engine, apis, {
    authorize: options.authorize,
    refuseUnknownMembers: options.refuseUnknownMembers ?? false,
    ...{ limits, profile, logger, isClosed },
    turns: contextOf(engine).turns,
    newRequestId: () => random.id(),
    documents: () => writeApiDocuments(VERSION),
    versionFacts: { version, revision: 'portcullis', buildDate: BUILD_DATE, runtimeVersion: 'portcullis' },
    ...identity,
  })
}

/** Events name the controller as routers know it, and the process where routers know none. */
function deployedEvents(
  context: EngineContext,
  processId: string,
  tell: (event: DeployedEvent) => void,
  kinds: readonly string[] = DeployedEvents.kinds,
): () => void {
  const { dataPlane, digest } = context
  const [address] = dataPlane.controlAddresses
  const told = new DeployedEvents(context, address === undefined ? processId : controllerIdOf(digest, [address]))
  const wanted = new Map(kinds.map((kind) => [kind, {}]))
  const problem = told.problemOf(wanted)
  if (problem !== undefined) throw new TypeError(`events.deployed: ${problem}`)
  return told.subscribe(wanted, tell)
}

/** Loaded when it is asked for: a controller without routers needs nothing of it. */
async function openFabric(
  engine: ControllerEngine,
  presence: Presence,
  options: ControlPlaneOptions,
): Promise<ControlPlane> {
  const { dataPlane } = contextOf(engine)
  if (dataPlane.controlAddresses.length > 0) throw new Error('the fabric of this controller is open already')
  const moved = (addresses: readonly string[]) => {
    dataPlane.controlAddresses = addresses
  }
  moved([...options.addresses, ...(options.others ?? [])])
  await presence.open(options.addresses[0] ?? '')
  const { Fabric } = await import('../fabric/fabric.ts')
  const host = {
    context: contextOf(engine),
    moved,
    apiSessions: engine.apiSessions,
    createEdgeRouter: (body: { readonly name: string; readonly roleAttributes: readonly string[] }) =>
      engine.edgeRouters.create(SYSTEM_CALL, { ...body, isTunnelerEnabled: true }),
    deleteRouter: (resource: EdgeRouters | TransitRouters, id: string) => engine.of(resource).delete(SYSTEM_CALL, id),
  }
  const fabric = new Fabric(host, presence, options)
  dataPlane.view = fabric.view
  return fabric
}

/** Loads the reference of all operations, where it is asked for. */
async function referenced(fetch: PlainFetch): Promise<PlainFetch> {
  const { withReference } = await import('../apis/reference/reference.ts')
  return withReference(fetch, VERSION)
}

/** Loads the OpenID provider, where it is on. */
async function openIdOf(engine: ControllerEngine, options: ControllerOptions): Promise<OpenIdApi | undefined> {
  const { oidc = {}, cors, directE2EE } = options
  if (oidc === false) return undefined
  const { openProvider } = await import('./open-id-provider.ts')
  const { settings } = contextOf(engine)
  const { allowPrivateJwks: allowInternal } = settings.profile
  if (directE2EE !== undefined) {
    const { directSettings } = await import('../facts/data-plane/direct-e2ee.ts')
    settings.directE2EE = directSettings(directE2EE)
  }
  return openProvider(engine, oidc, { origins: cors?.origins ?? [], allowInternal })
}
