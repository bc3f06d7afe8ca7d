import { checkArgument, checkOptions, type OptionRules } from '../../../src/base/arguments.ts'
import { createClient, createManagementClient } from '../../../src/client/index.ts'
import { Lifetime } from '../../../src/concurrency/lifetime.ts'
import {
  type Call,
  type CallEngine,
  type Caller,
  createController,
  createPkiMaterial,
  type Storage,
} from '../../../src/index.ts'
import { type MemoryStorage, memoryStorage } from '../../../src/memory.ts'
import type { ModelInput } from '../../../src/model/index.ts'
import { CONTROLLER_OPTIONS } from '../../../src/testing.ts'
import { reachOf } from './access-expectations.ts'
import type { KeptApp } from './authenticator-app.ts'
import { byIdOrName, endpoints, type TestEndpoint } from './endpoints.ts'
import { fakeClock, fakeScheduler, liveClock, SPAN, workUnderWay } from './fake-clock.ts'
import { giveRouter, plainPasswordHasher, recordingLogger, seededRandom } from './fakes.ts'
import { faultPlan } from './faults.ts'
import { CONTROLLER, TestPaths } from './network/test-network.ts'
import { TestProcesses, withMembers } from './network/test-processes.ts'
import { requestRecord } from './request-record.ts'
import type { RoutedParts, RoutedTestController } from './routed-controller.ts'
import {
  type ListeningController,
  listenWith,
  type TestController,
  type TestControllerOptions,
} from './test-controller.ts'
import { waitingEvents } from './waiting-events.ts'

/** The admin of every test controller. */
export const TEST_ADMIN = { username: 'admin', password: 'admin-password' } as const

const ADDRESS = 'controller.test:1280'
const TRUST_DOMAIN = 'controller.test'
const HOSTS = ['controller.test', 'localhost', '127.0.0.1', '::1']

/**
 * Makes a whole controller for a test in some milliseconds: memory storage, its own certificates, a clock that stands still,
 * ids that are the same in every run, and typed clients that call it without a socket. Nothing limits how often it is called,
 * because its clock stands still; give `rateLimits` to test limits. Over a fork of a memory storage it goes on with new ids;
 * give it the `pki` too with which the fork's identities enrolled, or use {@link TestController.fork}.
 *
 * @example
 * await using net = await createTestController()
 * await net.admin.call('POST /services', { body: { name: 'wiki' } })
 * const laptop = await net.enroll('laptop', { roleAttributes: ['staff'] })
 * await expect(laptop.dial('wiki')).rejects.toThrow('NOT_FOUND')
 */
export function createTestController(
  options: TestControllerOptions & { readonly router: true },
): Promise<RoutedTestController>
export function createTestController(options?: TestControllerOptions): Promise<TestController>
export async function createTestController(
  options: TestControllerOptions = {},
): Promise<TestController | RoutedTestController> {
  checkOptions('createTestController', options, OPTIONS)
  const { router = false, model } = options
  const parts = await controllerWith(options, new Map())
  const { net } = parts
  if (!router) {
    if (model !== undefined) await giveRouter(net)
    return net
  }
  // Loaded here because most tests carry nothing.
  const { withRouter } = await import('./routed-controller.ts')
  return withRouter(parts)
}

const OPTIONS: OptionRules<TestControllerOptions> = {
  ...CONTROLLER_OPTIONS,
  storage: 'object',
  clock: { oneOf: ['turned', 'live'] },
  now: 'number',
  seed: 'number',
  router: 'boolean',
  controllers: {
    shape: 'number',
    problem: (count: number) => (Number.isInteger(count) && count >= 1 ? undefined : `takes 1 or more, not ${count}`),
  },
}

/** A test controller whose identities may have authenticator apps already, as in a fork. */
async function controllerWith(options: TestControllerOptions, apps: Map<string, KeptApp>): Promise<RoutedParts> {
  const { now, clock: pace = 'turned', seed = 1, router: _router, controllers = 1, ...rest } = options
  const clock = pace === 'live' ? liveClock(now) : fakeClock(now)
  const scheduler = fakeScheduler(clock)
  const { storage = memoryStorage(), admin = TEST_ADMIN } = rest
  const pki =
    rest.pki ??
    (await createPkiMaterial({ hosts: HOSTS, trustDomain: TRUST_DOMAIN, now: clock.now(), endTogether: true }))
  const plan = faultPlan()
  const record = requestRecord()
  const names = Array.from({ length: controllers }, (_, at) => (at === 0 ? CONTROLLER : `${CONTROLLER}-${at + 1}`))
  const paths = new TestPaths({ clock, scheduler }, names)
  const processes = new TestProcesses({
    ...{ names, scheduler, paths, storage: plan.storage(storage) },
    around: (fetch) => record.around(plan.around(fetch, clock, scheduler), clock),
    create: async ({ startsBefore, ...ports }) => {
      // A controller that starts over the network of another one leaves it as it is.
      const { model: _applied, prune: _pruned, ...again } = rest
      return createController({
        address: ADDRESS,
        random: seededRandom((await unusedSeed(storage, seed)) + startsBefore * OTHER_SEEDS),
        passwordHasher: plainPasswordHasher,
        logger: recordingLogger(),
        rateLimits: false,
        // A test delivers no events to webhooks unless it asks for that.
        webhooks: false,
        ...(startsBefore === 0 ? rest : again),
        authorize: record.authorize(rest.authorize),
        ...{ pki, admin, clock },
        ...ports,
      })
    },
  })
  await processes.startAll()
  const controller = processes.asController()
  const { fetch } = processes
  const baseUrl = `https://${rest.address ?? ADDRESS}`
  const connect = { baseUrl, fetch: (request: Request) => fetch(request) }
  const management = createManagementClient(connect)
  const login = async () => {
    const { data } = await management.call('POST /authenticate', { query: { method: 'password' }, body: admin })
    return data.token
  }
  const loggedIn = createManagementClient({ ...connect, login })
  const elapse = async (milliseconds: number) => {
    checkArgument('elapse', 'milliseconds', milliseconds, SPAN)
    await workUnderWay()
    await scheduler.runUntil(clock.now() + milliseconds)
    await workUnderWay()
  }
  const serviceId = async (service: string) =>
    (await loggedIn.call('GET /services', { query: byIdOrName(service) })).data[0]?.id ?? service
  const served = withMembers(controller, { fetch })
  const wayOf = (...own: readonly [string, ...string[]]) => processes.fetchFrom(paths.join(...own))
  const reach = endpoints({ controller: served, wayOf, admin: loggedIn, baseUrl, clock, elapse, serviceId, apps })
  const listening = new Set<ListeningController>()
  let takesRouters = false
  const listen: RoutedParts['listen'] = async (where = {}, running) => {
    const server = await listenWith(served, where, running)
    takesRouters ||= where.fabric === true
    listening.add(server)
    return server
  }
  const kill = (name: string) => {
    if (takesRouters) throw new Error(`kill: routers of listen({ fabric: true }) would hold on to ${name}`)
    processes.kill(name)
  }
  // The network of a fork is what became of the model.
  const { model: _model, prune: _prune, ...forked } = options
  const snapshot = () => {
    const kept = forkOf(storage)
    const keptApps = copyOf(apps)
    const at = clock.now()
    const fork = async () =>
      (await controllerWith({ ...forked, storage: forkOf(kept), pki, admin, now: at }, copyOf(keptApps))).net
    return { fork }
  }
  const lifetime = new Lifetime('the test controller is closed')
  const close = () => {
    paths.heal()
    return lifetime.close(
      () => Promise.all([...listening].map((server) => server.close())),
      () => processes.close(),
    )
  }
  const seedWith = async (input: ModelInput) => {
    await controller.apply(input)
    await giveRouter(controller)
  }
  function as(identity: string): TestEndpoint
  function as(who: Call | Caller): CallEngine
  function as(who: string | Call | Caller): TestEndpoint | CallEngine {
    return typeof who === 'string' ? reach.as(who) : controller.as(who)
  }
  const net: TestController = withMembers(served, {
    ...reach,
    as,
    fetch,
    storage,
    clock,
    events: waitingEvents(controller.events, clock, scheduler),
    elapse,
    admin: loggedIn,
    seed: seedWith,
    management,
    client: (connection) => createClient({ baseUrl, fetch: (request) => fetch(request, connection) }),
    asAdmin: async () => management.withToken(await login()),
    posture: (identity) => ({ report: (facts) => reach.as(identity).report(facts) }),
    totp: (identity) => reach.as(identity).totp(),
    faults: plan.faults,
    network: paths,
    requests: record.requests,
    reach: (identity, circumstances) => reachOf(controller, identity, circumstances),
    snapshot,
    fork: () => snapshot().fork(),
    listen: (where) => listen(where),
    kill,
    restart: (name) => processes.restart(name),
    close,
    [Symbol.asyncDispose]: close,
  } satisfies Partial<TestController>)
  return { net, processes, origin: baseUrl, scheduler, paths, listen }
}

/** How far the seeds of controllers over one storage are apart. */
const OTHER_SEEDS = 1_000_000

/** A storage that was written to before may hold ids of earlier seeds. */
function unusedSeed(storage: Storage, seed: number): Promise<number> {
  return storage.read(async ({ revision }) => seed + revision)
}

/** Apart from the original: a code that is used in one controller is unused in the other. */
function copyOf(apps: ReadonlyMap<string, KeptApp>): Map<string, KeptApp> {
  return new Map([...apps].map(([id, app]) => [id, { ...app }]))
}

function forkOf(storage: Storage): MemoryStorage {
  if ('fork' in storage && typeof storage.fork === 'function') return storage.fork()
  throw new Error('only a controller over a memory storage can be forked')
}
