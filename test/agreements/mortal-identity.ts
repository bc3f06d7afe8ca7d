import type { Identity } from 'portcullis/sdk'
import { createTestController, type TestController } from 'portcullis/testing'
import { certificatesIn } from '../../adapters/network/enrollment/signing-request.ts'
import { HeldCertificate } from '../../adapters/network/sdk/held-certificate.ts'
import { type EnrolledDevice, readIdentity } from '../../adapters/network/sdk/identity-file.ts'

import { identityOver } from '../../adapters/network/sdk/open-identity.ts'
import { withSharedPki } from '../support/shared-pki.ts'

/** The failure of one step: a request to a controller, or the write of the identity file. */
export interface Fault {
  readonly way: 'fails' | 'hangs' | 'dies'
  /** Whether the step was done before, and only its answer is lost. */
  readonly isDone: boolean
  /** Milliseconds for which it hangs; it goes on then. */
  readonly forMs: number
}

/** One step as it is about to be taken. */
export interface Step {
  /** Counts from 0 over all processes. */
  readonly number: number
  /** The method and path of a request, or `keep`. */
  readonly name: string
  readonly origin: string
}

const ORIGINS = ['https://controller.test:1280', 'https://other.test:1280']
const DAY_MS = 86_400_000
const NEVER = new Promise<never>(() => undefined)
/** Milliseconds of the test's clock after which something that was asked for counts as hanging. */
const PATIENCE_MS = 600_000

/** A controller behind two addresses, and an identity whose process may die at any step and starts again from its file. */
export class MortalIdentity {
  readonly net: TestController
  file: EnrolledDevice
  /** The fault of a step, if there is one. */
  faultOf: (step: Step) => Fault | undefined = () => undefined
  readonly #sessions: 'api-session' | 'bearer'
  #timers: { readonly instant: number; readonly work: () => void }[] = []
  #steps = 0
  #running = 0
  #process: { readonly identity: Identity; readonly life: { isDead: boolean } } | undefined

  private constructor(net: TestController, file: EnrolledDevice, sessions: 'api-session' | 'bearer') {
    this.net = net
    this.file = file
    this.#sessions = sessions
  }

  /** Enrolls it; an old certificate is due to be renewed by itself. */
  static async enroll(sessions: 'api-session' | 'bearer', isOld: boolean): Promise<MortalIdentity> {
    const net = await createTestController(await withSharedPki())
    net.clock.set(Date.now() - (isOld ? 300 * DAY_MS : 0))
    const { key, cert, ca } = await net.enroll('mortal')
    return new MortalIdentity(net, { controller: ORIGINS[0] ?? '', controllers: ORIGINS, key, cert, ca }, sessions)
  }

  /** The identity of the process that lives; it is started from the file where there is none. */
  async identity(): Promise<Identity> {
    if (this.#process === undefined || this.#process.life.isDead) this.#process = await this.#start()
    return this.#process.identity
  }

  /** Kills the process. */
  kill(): void {
    if (this.#process !== undefined) this.#process.life.isDead = true
  }

  /** Turns the clock, and lets happen what is due on the way. */
  async elapse(ms: number): Promise<void> {
    const until = this.net.clock.now() + ms
    for (;;) {
      await this.#settled()
      const [next] = this.#timers.toSorted((one, other) => one.instant - other.instant)
      if (next === undefined || next.instant > until) break
      await this.net.elapse(Math.max(0, next.instant - this.net.clock.now()))
      this.#timers = this.#timers.filter((timer) => timer !== next)
      next.work()
    }
    await this.net.elapse(Math.max(0, until - this.net.clock.now()))
    await this.#settled()
  }

  /** Turns the clock until something is settled; answers how it ended. */
  async outcome(asked: Promise<unknown>): Promise<'done' | 'hangs' | 'dead' | Error> {
    let ended: 'done' | Error | undefined
    asked.then(
      () => {
        ended = 'done'
      },
      (error: unknown) => {
        ended = error instanceof Error ? error : new Error(String(error))
      },
    )
    const begun = this.net.clock.now()
    for (;;) {
      await this.#settled()
      if (ended !== undefined) return ended
      if (this.#process?.life.isDead) return 'dead'
      if (this.net.clock.now() - begun > PATIENCE_MS) return 'hangs'
      // Keys are made in other threads, in real time.
      await new Promise((resolve) => setTimeout(resolve, 2))
      await this.elapse(500)
    }
  }

  async close(): Promise<void> {
    this.kill()
    await this.net.close()
  }

  async #start() {
    const life = { isDead: false }
    const { controllers, credentials, pending } = await readIdentity(this.file)
    const certificate = new HeldCertificate(credentials, pending)
    const identity = identityOver({
      ...{ controllers, certificate, sessions: this.#sessions },
      connect: () => Promise.reject(new Error('there is no router')),
      timer: (ms, work) => {
        const timer = { instant: this.net.clock.now() + ms, work: () => void (life.isDead || work()) }
        this.#timers.push(timer)
        return () => {
          this.#timers = this.#timers.filter((other) => other !== timer)
        }
      },
      fetchBy: (shown) => (request) => {
        const { pathname, search, origin } = new URL(request.url)
        const connection = { clientCertificates: certificatesIn(shown?.cert ?? '') }
        return this.#take(life, `${request.method} ${pathname}`, origin, () =>
          this.net.fetch(new Request(`${ORIGINS[0]}${pathname}${search}`, request), connection),
        )
      },
      keep: (device) =>
        this.#take(life, 'keep', '', async () => {
          this.file = JSON.parse(JSON.stringify(device))
        }),
    })
    return { identity, life }
  }

  async #take<T>(life: { isDead: boolean }, name: string, origin: string, work: () => Promise<T>): Promise<T> {
    if (life.isDead) return NEVER
    const fault = this.faultOf({ number: this.#steps++, name, origin })
    if (fault === undefined) return this.#counted(work)
    if (!fault.isDone && fault.way === 'hangs') await this.#pause(fault.forMs)
    if (!fault.isDone && fault.way === 'fails') throw new TypeError('fetch failed')
    if (!fault.isDone && fault.way === 'dies') {
      life.isDead = true
      return NEVER
    }
    const answer = await this.#counted(work)
    if (!fault.isDone) return answer
    if (fault.way === 'hangs') await this.#pause(fault.forMs)
    if (fault.way === 'fails') throw new TypeError('fetch failed')
    if (fault.way === 'dies') life.isDead = true
    return life.isDead ? NEVER : answer
  }

  #pause(ms: number): Promise<void> {
    if (ms === Number.POSITIVE_INFINITY) return NEVER
    return new Promise((resolve) => {
      this.#timers.push({ instant: this.net.clock.now() + ms, work: resolve })
    })
  }

  async #counted<T>(work: () => Promise<T>): Promise<T> {
    this.#running += 1
    try {
      return await work()
    } finally {
      this.#running -= 1
    }
  }

  async #settled(): Promise<void> {
    for (let quiet = 0; quiet < 3; quiet = this.#running === 0 ? quiet + 1 : 0) {
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}
