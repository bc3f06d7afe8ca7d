import type { Identity } from 'portcullis/sdk'
import { createTestController, type RoutedTestController, type TestController } from 'portcullis/testing'
import type { Channel } from '../../adapters/network/channel/channel.ts'
import { channelPair } from '../../adapters/network/channel/channel-pair.ts'
import { certificatesIn } from '../../adapters/network/enrollment/created-requests.ts'
import type { RunningRouter } from '../../adapters/network/router/index.ts'
import { ConnectionFailure } from '../../adapters/network/sdk/connection-failure.ts'
import { HeldCertificate } from '../../adapters/network/sdk/held-certificate.ts'
import { type EnrolledDevice, readIdentity } from '../../adapters/network/sdk/identity-file.ts'

import { identityOver } from '../../adapters/network/sdk/open-identity.ts'
import { withSharedPki } from '../support/shared-pki.ts'
import { MortalSteps } from './mortal-steps.ts'

/** The failure of one step: a request to a controller, the write of the identity file, a way to a router or a message there. */
export interface Fault {
  readonly way: 'fails' | 'hangs' | 'dies'
  /** Whether the step was done before, and only its answer is lost. */
  readonly isDone: boolean
  /** Milliseconds for which it hangs; it goes on then. */
  readonly forMs: number
  /** Milliseconds after which it fails; at once unless given. */
  readonly afterMs?: number
}

/** One step as it is about to be taken. */
export interface Step {
  /** Counts from 0 over all processes. */
  readonly number: number
  /** The method and path of a request, `keep`, `connect`, or `send` for a message to a router. */
  readonly name: string
  readonly origin: string
}

const ORIGINS = ['https://controller.test:1280', 'https://other.test:1280']
const DAY_MS = 86_400_000
const NEVER = new Promise<never>(() => undefined)
/** Milliseconds of the test's clock after which something that was asked for counts as hanging. */
const PATIENCE_MS = 600_000
/** Milliseconds after which the socket to a router is given up, as by the SDK. */
const CONNECT_MS = 10_000

/** The parts of a test controller that it needs, with a router or without. */
type Network = Pick<TestController, 'admin' | 'clock' | 'close' | 'elapse' | 'fetch'>

/** A process: its sockets end with it. */
interface Life {
  isDead: boolean
  readonly channels: Set<Channel>
}

function end(life: Life): void {
  life.isDead = true
  for (const channel of life.channels) channel.destroy()
}

function failureAt(step: string): Error {
  return step === 'connect'
    ? new ConnectionFailure('ROUTER_UNREACHABLE', 'the router is away')
    : new TypeError('fetch failed')
}

/** A router takes the other end of a channel, of an endpoint that shows certificates. */
type Greet = (channel: Channel, chain: readonly Uint8Array[]) => void

/** A controller behind two addresses, and an identity whose process may die at any step and starts again from its file. */
export class MortalIdentity {
  readonly net: Network
  file: EnrolledDevice
  /** The fault of a step, if there is one. */
  faultOf: (step: Step) => Fault | undefined = () => undefined
  readonly #sessions: 'api-session' | 'bearer'
  #steps = 0
  readonly #played: MortalSteps
  /** Whether the process was started and its owner has not noted it yet. */
  isNew = false
  #process: { readonly identity: Identity; readonly life: Life } | undefined
  readonly #greet: Greet

  private constructor(
    net: Network,
    file: EnrolledDevice,
    sessions: 'api-session' | 'bearer',
    greet: Greet = () => {
      throw new Error('there is no router')
    },
  ) {
    this.net = net
    this.file = file
    this.#sessions = sessions
    this.#greet = greet
    this.#played = new MortalSteps(net, () => new Promise((resolve) => setImmediate(resolve)))
  }

  /** Enrolls it; an old certificate is due to be renewed by itself. */
  static async enroll(sessions: 'api-session' | 'bearer', isOld: boolean): Promise<MortalIdentity> {
    const net = await createTestController(await withSharedPki())
    net.clock.set(Date.now() - (isOld ? 300 * DAY_MS : 0))
    const { key, cert, ca } = await net.enroll('mortal')
    return new MortalIdentity(net, { controller: ORIGINS[0] ?? '', controllers: ORIGINS, key, cert, ca }, sessions)
  }

  /** An identity of a network with a router that it reaches. */
  static async atRouter(
    net: RoutedTestController,
    sessions: 'api-session' | 'bearer',
    roleAttributes: string[],
  ): Promise<MortalIdentity> {
    net.clock.set(Date.now())
    const { key, cert, ca } = await net.enroll('mortal', { roleAttributes })
    const file = { controller: ORIGINS[0] ?? '', controllers: ORIGINS, key, cert, ca }
    const greet: Greet = (channel, chain) => {
      // Its type hides what it can do beside its name.
      const router = net.router as RunningRouter
      router.greet(channel, { chain, remoteAddress: '127.0.0.1' })
    }
    return new MortalIdentity(net, file, sessions, greet)
  }

  /** The identity of the process that lives; it is started from the file where there is none. */
  async identity(): Promise<Identity> {
    if (this.#process === undefined || this.#process.life.isDead) {
      this.#process = await this.#start()
      this.isNew = true
    }
    return this.#process.identity
  }

  /** Kills the process. */
  kill(): void {
    if (this.#process !== undefined) end(this.#process.life)
  }

  /** Every way of the process to a router is lost. */
  loseRouters(): void {
    for (const channel of this.#process?.life.channels ?? []) channel.destroy()
  }

  /** Turns the clock, and lets happen what is due on the way. */
  elapse(ms: number): Promise<void> {
    return this.#played.elapse(ms)
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
      await this.#played.settled()
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
    const life: Life = { isDead: false, channels: new Set() }
    const { controllers, credentials, pending } = await readIdentity(this.file)
    const certificate = new HeldCertificate(credentials, pending)
    const identity = identityOver({
      ...{ controllers, certificate, sessions: this.#sessions },
      now: () => this.net.clock.now(),
      connect: (address) => this.#take(life, 'connect', address, async () => this.#connect(life, certificate)),
      timer: (ms, work) => this.#played.timer(life, ms, work),
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

  #take<T>(life: Life, name: string, origin: string, work: () => Promise<T>): Promise<T> {
    if (life.isDead) return NEVER
    const fault = this.faultOf({ number: this.#steps++, name, origin })
    const isGivenUp = name === 'connect' && fault?.way === 'hangs' && fault.forMs > CONNECT_MS
    const given = isGivenUp ? ({ ...fault, way: 'fails', isDone: false, afterMs: CONNECT_MS } as const) : fault
    return this.#played.take(life, given, work, { kill: () => end(life), failure: () => failureAt(name) })
  }

  /** A way to the router. A message that fails is the last one, one that hangs is lost with all after it. */
  #connect(life: Life, { shown }: HeldCertificate): Channel {
    const [own, theirs] = channelPair()
    let isLost = false
    const channel: Channel = {
      get queuedBytes() {
        return own.queuedBytes
      },
      listen: (listener) =>
        own.listen({
          ...listener,
          onMessage: (message) => void (life.isDead || isLost || listener.onMessage(message)),
          onClose: () => void (life.isDead || listener.onClose()),
        }),
      pause: () => own.pause(),
      resume: () => own.resume(),
      close: () => own.close(),
      destroy: () => own.destroy(),
      send: (message) => {
        if (life.isDead || isLost) return
        const fault = this.faultOf({ number: this.#steps++, name: 'send', origin: '' })
        if (fault === undefined || fault.isDone) own.send(message)
        if (fault?.way === 'fails') own.destroy()
        if (fault?.way === 'hangs') isLost = true
        if (fault?.way === 'dies') end(life)
      },
    }
    life.channels.add(own)
    this.#greet(theirs, certificatesIn(shown.cert))
    return channel
  }
}
