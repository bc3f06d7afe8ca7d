import { type Controller, createController, type HostDirectory, type PkiMaterial } from 'portcullis'
import { createClient, createManagementClient, createPortcullisClient } from 'portcullis/client'
import { memoryStorage } from 'portcullis/memory'
import {
  fakeClock,
  fakeScheduler,
  plainPasswordHasher,
  recordingLogger,
  seededRandom,
  TEST_ADMIN,
} from 'portcullis/testing'
import type { Fault } from './mortal-identity.ts'
import { MortalSteps } from './mortal-steps.ts'
import { mortalStorage, type StorageProcess } from './mortal-storage.ts'

const baseUrl = 'https://controller.test:1280'
/** Keys of authorities that are made are sealed with it. */
const SECRETS_KEY = new Uint8Array(32).fill(7)
/** Milliseconds of the clock after which something that was asked for counts as hanging. */
const PATIENCE_MS = 600_000
/** The same for the start of a process, which takes real time. */
const START_MS = 12_000_000
/** Milliseconds that pass at once: work that begins at an instant is done before the next one. */
const PACE_MS = 5000

/** A controller over the store. Its process may die at any call of its storage. */
export interface ControllerProcess {
  readonly controller: Controller
  readonly life: StorageProcess
  fetch(request: Request, clientCertificates?: readonly Uint8Array[]): Promise<Response>
}

/** The directory of the host of a process, which is asked in steps of that process. */
export type DirectoryOf = (step: <T>(name: string, work: () => Promise<T>) => Promise<T>) => HostDirectory

/** How something ended that was asked for. */
export type Outcome<T> = { readonly value: T } | { readonly error: Error } | 'hangs' | 'dead'

/** Processes over one store, which outlives them, and one clock. */
export class MortalNetwork {
  readonly clock
  readonly #scheduler
  readonly #store = memoryStorage()
  readonly #pki: PkiMaterial
  readonly #steps: MortalSteps
  readonly #controllers: Controller[] = []
  readonly #directoryOf: DirectoryOf | undefined
  /** The fault of a call of the storage, if there is one. */
  faultOf: (step: { readonly name: string }) => Fault | undefined = () => undefined

  constructor(pki: PkiMaterial, now: number, directoryOf?: DirectoryOf) {
    this.#pki = pki
    this.#directoryOf = directoryOf
    this.clock = fakeClock(now)
    this.#scheduler = fakeScheduler(this.clock)
    const elapse = (ms: number) => this.#scheduler.runUntil(this.clock.now() + ms)
    // Keys are made in other threads, in real time.
    this.#steps = new MortalSteps({ clock: this.clock, elapse }, () => new Promise((resolve) => setTimeout(resolve, 1)))
  }

  /** Starts a process; undefined where it died, or could not begin. */
  async start(): Promise<ControllerProcess | undefined> {
    const life = mortalStorage(this.#store, this.#steps, (step) => this.faultOf(step))
    const scheduler = {
      // A step may hang, and end when the clock goes on.
      at: (instant: number, work: () => Promise<void>) =>
        this.#scheduler.at(instant, async () => void (life.isDead || work().catch(() => undefined))),
    }
    const kill = () => {
      life.isDead = true
    }
    const ends = { kill, failure: () => new Error('the step failed') }
    const directory = this.#directoryOf?.((name, work) => this.#steps.take(life, this.faultOf({ name }), work, ends))
    const options = { storage: life.storage, scheduler, pki: this.#pki, clock: this.clock, secretsKey: SECRETS_KEY }
    const created = createController({
      ...options,
      address: 'controller.test:1280',
      admin: TEST_ADMIN,
      random: seededRandom(1 + 1000 * this.#controllers.length),
      passwordHasher: plainPasswordHasher,
      // Longer than any process hangs here.
      enrollmentDurationMs: 7 * 86_400_000,
      logger: recordingLogger(),
      rateLimits: false,
      allowPrivateJwks: true,
      webhooks: false,
      ...(directory !== undefined && { directory }),
    })
    const begun = await this.outcome(life, created, START_MS)
    if (typeof begun === 'string' || !('value' in begun)) {
      life.isDead = true
      return undefined
    }
    const controller = begun.value
    this.#controllers.push(controller)
    return {
      controller,
      life,
      fetch: (request, clientCertificates = []) =>
        controller.fetch(request, { remoteAddress: '127.0.0.1', clientCertificates }),
    }
  }

  /** Turns the clock until something is settled, or its process has died; answers how it ended. */
  async outcome<T>(life: StorageProcess, asked: Promise<T>, patienceMs = PATIENCE_MS): Promise<Outcome<T>> {
    let ended: Outcome<T> | undefined
    asked.then(
      (value) => {
        ended = { value }
      },
      (error: unknown) => {
        ended = { error: error instanceof Error ? error : new Error(String(error)) }
      },
    )
    const begun = this.clock.now()
    for (;;) {
      await this.#steps.settled()
      if (ended !== undefined) return ended
      if (life.isDead) return 'dead'
      if (this.clock.now() - begun > patienceMs) return 'hangs'
      await this.elapse(PACE_MS)
    }
  }

  /** Lets time pass, and happen what is due on the way. */
  async elapse(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= PACE_MS) await this.#steps.elapse(Math.min(PACE_MS, left))
  }

  async close(): Promise<void> {
    await this.#store.close()
  }
}

/** The clients of a process; a device shows its certificates. */
export function clientsOf({ fetch }: ControllerProcess, token?: string, chain?: readonly Uint8Array[]) {
  const options = { baseUrl, fetch: (request: Request) => fetch(request, chain), ...(token !== undefined && { token }) }
  return {
    client: createClient(options),
    management: createManagementClient(options),
    portcullis: createPortcullisClient(options),
  }
}

/** The clients of the administrator. */
export async function administering(process: ControllerProcess) {
  const { management } = clientsOf(process)
  const { data } = await management.call('POST /authenticate', { query: { method: 'password' }, body: TEST_ADMIN })
  return clientsOf(process, data.token)
}
