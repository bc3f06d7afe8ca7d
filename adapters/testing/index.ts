import {
  type ApiClient,
  type ClientApi,
  createClient,
  createManagementClient,
  type ManagementApi,
} from '../../src/client/index.ts'
import {
  type ConnectionInfo,
  type Controller,
  type ControllerOptions,
  createController,
  type Storage,
} from '../../src/index.ts'
import { memoryStorage } from '../memory/index.ts'
import { fakeScheduler } from './fake-scheduler.ts'
import { type FakeClock, fakeClock, plainPasswordHasher, recordingLogger, seededRandom } from './fakes.ts'

export { type EnrolledRouter, enrollEdgeRouter } from './enrolled-router.ts'
export * from './fake-router.ts'
export * from './fake-scheduler.ts'
export * from './fakes.ts'

/** The admin of every test controller. */
export const TEST_ADMIN = { username: 'admin', password: 'admin-password' } as const

const ADDRESS = 'controller.test:1280'

/** A controller in memory with a clock that the test turns. */
export interface TestController extends Controller {
  /** What it was made over, for a test that looks at, or damages, what is stored. */
  readonly storage: Storage
  /** Stands still until the test moves it; {@link TestController.elapse} also lets happen what is due. */
  readonly clock: FakeClock
  /** Lets `milliseconds` pass: what the controller does by itself in that time is done when this resolves. */
  elapse(milliseconds: number): Promise<void>
  /** Typed calls of the management API, without a network. */
  readonly management: ApiClient<ManagementApi>
  /** Typed calls of the client API, without a network; `connection` plays the TLS client. */
  client(connection?: ConnectionInfo): ApiClient<ClientApi>
  /** The management API as the admin that the controller was made with. */
  asAdmin(): Promise<ApiClient<ManagementApi>>
}

/** What a test decides; everything else is as {@link createTestController} says. */
export interface TestControllerOptions extends Partial<Omit<ControllerOptions, 'clock' | 'scheduler'>> {
  /** Where the clock starts: epoch milliseconds. */
  readonly now?: number
}

/**
 * Makes a whole controller for a test in a few milliseconds: memory storage, its own certificates, a fake clock, ids that
 * are the same in every run, and typed clients that call it without a socket. Nothing limits how often it is called, because
 * its clock stands still; give `rateLimits` to test limits. Over a fork of a memory storage it goes on with new ids; give it
 * the `pki` too with which the fork's identities enrolled.
 */
export async function createTestController(options: TestControllerOptions = {}): Promise<TestController> {
  const clock = fakeClock(options.now)
  const scheduler = fakeScheduler(clock)
  const { storage = memoryStorage(), admin = TEST_ADMIN } = options
  const controller = await createController({
    address: ADDRESS,
    random: seededRandom(await unusedSeed(storage)),
    passwordHasher: plainPasswordHasher,
    logger: recordingLogger(),
    rateLimits: false,
    ...options,
    storage,
    admin,
    clock,
    scheduler,
  })
  const baseUrl = `https://${ADDRESS}`
  const management = createManagementClient({ baseUrl, fetch: (request) => controller.fetch(request) })
  return {
    ...controller,
    storage,
    clock,
    elapse: (milliseconds) => scheduler.runUntil(clock.now() + milliseconds),
    management,
    client: (connection) => createClient({ baseUrl, fetch: (request) => controller.fetch(request, connection) }),
    asAdmin: async () => {
      const { data } = await management.call('POST /authenticate', { query: { method: 'password' }, body: admin })
      return management.withToken(data.token)
    },
  }
}

/** A storage that was written to before may hold ids of earlier seeds. */
function unusedSeed(storage: Storage): Promise<number> {
  return storage.read(async ({ revision }) => revision + 1)
}
