import { duplexPair } from 'node:stream'
import {
  type Controller,
  createController,
  type createPkiMaterial,
  type Random,
  type Scheduler,
  type Storage,
} from 'portcullis'
import { type OpenControlListener, openControlListener } from 'portcullis/fabric'
import type { Identity } from 'portcullis/sdk'
import { plainPasswordHasher, TEST_ADMIN } from 'portcullis/testing'
import { channelPair } from '../../adapters/network/channel/channel-pair.ts'
import { openOwnRouter, type RunningRouter } from '../../adapters/network/router/index.ts'
import { inProcessIdentity } from '../../adapters/network/sdk/in-process-identity.ts'
import type { Choices } from './choices.ts'
import { linkedOver } from './own-links.ts'
import type { PlayedDirectory } from './played-directory.ts'
import type { PlayedSigner } from './played-signer.ts'
import type { Receiver } from './receiver.ts'
import type { SimulatedTime } from './simulated-time.ts'
import { type StorageFaults, storageOf } from './slow-storage.ts'
import { key, type Wires } from './wires.ts'

/** The parts that all processes of a run share. */
export interface Surroundings {
  readonly time: SimulatedTime
  readonly choices: Choices
  readonly wires: Wires
  readonly shared: Storage
  readonly pki: Awaited<ReturnType<typeof createPkiMaterial>>
  readonly receiver: Receiver
  /** The directory of the host, in networks that have one. */
  readonly directory: PlayedDirectory | undefined
  /** The signer by whose tokens persons log in, in networks that have one. */
  readonly signer: PlayedSigner | undefined
  /** The own routers of processes are linked. */
  readonly linksOwnRouters: boolean
  readonly trace: (line: string) => void
  processAt(address: string): SimulatedProcess | undefined
}

interface Running {
  isAlive: boolean
  /** Rejects when the process is killed: a caller that waits for its answer gets none. */
  readonly killed: PromiseWithResolvers<never>
  readonly controller: Controller
  readonly listener: OpenControlListener
  /** Undefined for a process without an edge router of its own. */
  readonly router: RunningRouter | undefined
  readonly identities: Map<string, Identity>
  /** The token of each identity that calls an API here. */
  readonly tokens: Map<string, string>
}

/** A process of the network: a controller, its control channel, and the edge router of its own. */
export class SimulatedProcess {
  readonly name: string
  readonly #surroundings: Surroundings
  readonly #hasRouter: boolean
  /** By how much its clock is ahead, ms. */
  aheadMs = 0
  readonly faults: StorageFaults = {
    slowMs: 0,
    answersLateMs: 0,
    nextWrite: undefined,
    isAway: false,
    takesNoChanges: false,
  }
  #running: Running | undefined
  #starts = 0
  readonly #wakes = new Set<() => void>()
  #token: string | undefined

  constructor(name: string, surroundings: Surroundings, hasRouter = true) {
    this.name = name
    this.#surroundings = surroundings
    this.#hasRouter = hasRouter
  }

  /** Whether devices host and dial here. */
  get servesDevices(): boolean {
    return this.#running?.router !== undefined
  }

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  get running(): Running | undefined {
    return this.#running
  }

  /** Starts it. A start that fails ends the process. */
  async start(): Promise<void> {
    const state = { isAlive: true, killed: Promise.withResolvers<never>() }
    state.killed.promise.catch(() => undefined)
    try {
      await this.#start(state)
    } catch (error) {
      state.isAlive = false
      throw error
    }
  }

  async #start(state: Pick<Running, 'isAlive' | 'killed'>): Promise<void> {
    const { time, choices, wires, shared, pki, receiver, directory, signer } = this.#surroundings
    this.#starts += 1
    const storage = storageOf(shared, { time, choices, faults: this.faults, isAlive: () => state.isAlive })
    const controller = await createController({
      address: 'controller.test:1280',
      storage,
      pki,
      admin: TEST_ADMIN,
      clock: { now: () => time.now + this.aheadMs },
      scheduler: this.#scheduler(state),
      random: randomOf(choices),
      passwordHasher: plainPasswordHasher,
      logger: { info: () => undefined, warn: () => undefined, error: (message, fields) => this.#log(message, fields) },
      rateLimits: false,
      ...(directory && { directory: directory.at(this.name, state) }),
      ...(signer && { keySets: signer.at(state), apiSessionTimeoutMs: signer.loginsLastMs }),
    })
    await controller.events.subscribe('receiver', (event) =>
      state.isAlive ? receiver.take(event) : new Promise<never>(() => undefined),
    )
    const dialProcess = async (address: string) => {
      const other = this.#surroundings.processAt(address)
      if (!state.isAlive || other?.running === undefined || wires.refused.has(key(this.name, other.name)))
        throw new Error(`${address} is not reached`)
      // As sockets: the end of the other side closes.
      const [stream, near] = duplexPair({ allowHalfOpen: false })
      const [far, theirs] = duplexPair({ allowHalfOpen: false })
      wires.streams([this.name, other.name], near, far)
      const binding = choices.bytes(32)
      other.running.listener.acceptProcess({ stream: theirs, binding }, '127.0.0.1')
      return { stream, binding }
    }
    const listener = await openControlListener(controller, { addresses: [addressOf(this.name)], dialProcess })
    const ways = {
      plane: listener.plane,
      advertise: `${this.name}.test:3022`,
      timer: (ms: number, work: () => void) => time.after(ms, () => state.isAlive && work()),
      now: () => time.now + this.aheadMs,
      monotonic: () => time.now,
      ...(this.#surroundings.linksOwnRouters && linkedOver(this.#surroundings, this, state)),
    }
    const router = this.#hasRouter ? await openOwnRouter({ name: `edge-${this.name}` }, ways) : undefined
    this.#running = Object.assign(state, { controller, listener, router, identities: new Map(), tokens: new Map() })
  }

  /** Ends it at once, in whatever it does: nothing that it had begun has an effect any more. */
  kill(): void {
    const running = this.#running
    if (running === undefined) return
    running.isAlive = false
    running.killed.reject(new Error(`${this.name} was killed`))
    this.#running = undefined
    this.#token = undefined
    for (const wire of this.#surroundings.wires.of(this.name)) wire.reset(1)
  }

  /** Closes it as its host would. */
  async close(): Promise<void> {
    const running = this.#running
    if (running === undefined) return
    this.#running = undefined
    await Promise.all([...running.identities.values()].map((identity) => identity.close()))
    running.router?.close()
    await running.listener.close()
    await running.controller.close()
  }

  /** Moves its clock. */
  jump(ms: number): void {
    this.aheadMs += ms
    for (const wake of [...this.#wakes]) wake()
  }

  /** The identity of a device at this process, in whose router it hosts and dials. */
  identity(name: string, id: string): Identity {
    const running = this.#running
    if (running === undefined) throw new Error(`${this.name} does not run`)
    const known = running.identities.get(name)
    if (known !== undefined) return known
    const { time, wires } = this.#surroundings
    const { controller, router } = running
    if (router === undefined) throw new Error(`${this.name} has no edge router`)
    const identity = inProcessIdentity({
      origin: 'https://controller.test:1280',
      router: {
        name: router.name,
        greet: (channel, stranger) => {
          const [near, theirs] = channelPair()
          wires.channels([name, this.name], channel, near)
          router.greet(theirs, stranger)
        },
      },
      timer: (ms, work) => time.after(ms, () => running.isAlive && work()),
      now: () => time.now,
      startSession: async () => (await controller.engine.host.startSession(id)).token,
      fetch: async (request) => controller.fetch(request),
    })
    running.identities.set(name, identity)
    return identity
  }

  /** Calls an API as the administrator. */
  async call(method: string, path: string, body?: object): Promise<unknown> {
    const running = this.#running
    if (running === undefined) throw new Error(`${this.name} does not run`)
    const isKnown = this.#token !== undefined
    this.#token ??= String(
      Object(await this.#ask(running, 'POST', '/authenticate?method=password', { body: TEST_ADMIN })).token,
    )
    try {
      return await this.#ask(running, method, path, { ...(body && { body }), token: this.#token })
    } catch (error) {
      if (isKnown && this.#isOver(error)) return this.call(method, path, body)
      throw error
    }
  }

  /** Whether a session may have ended because it was not used for some time. */
  #isOver(error: unknown): boolean {
    return this.#surroundings.signer !== undefined && error instanceof Refused && error.status === 401
  }

  /** Calls an API as an identity, by a session of its own at this process. */
  async callAs(id: string, method: string, path: string, body?: object): Promise<unknown> {
    const running = this.#running
    if (running === undefined) throw new Error(`${this.name} does not run`)
    const known = running.tokens.get(id)
    const token = known ?? (await this.beginSession(id))
    running.tokens.set(id, token)
    try {
      return await this.#ask(running, method, path, { ...(body && { body }), token })
    } catch (error) {
      if (error instanceof Refused && error.status === 401) running.tokens.delete(id)
      if (known !== undefined && this.#isOver(error)) return this.callAs(id, method, path, body)
      throw error
    }
  }

  /** Logs in by a token of the signer; answers the session. */
  async logIn(bearer: string): Promise<{ readonly id: string; readonly token: string }> {
    const running = this.#running
    if (running === undefined) throw new Error(`${this.name} does not run`)
    const { id, token } = Object(await this.#ask(running, 'POST', '/authenticate?method=ext-jwt', { bearer }))
    return { id: String(id), token: String(token) }
  }

  /** Begins a session of an identity, as the host does; answers its token. */
  async beginSession(id: string): Promise<string> {
    const running = this.#running
    if (running === undefined) throw new Error(`${this.name} does not run`)
    const begun = running.controller.engine.host.startSession(id)
    return (await Promise.race([begun, running.killed.promise])).token
  }

  /** Ends the session of a token. */
  async logOut(token: string): Promise<void> {
    const running = this.#running
    if (running === undefined) throw new Error(`${this.name} does not run`)
    await this.#ask(running, 'DELETE', '/edge/client/v1/current-api-session', { token })
  }

  async #ask(
    running: Running,
    method: string,
    path: string,
    { body, token, bearer }: { readonly body?: object; readonly token?: string; readonly bearer?: string },
  ) {
    const base = /^\/(?:edge|fabric|portcullis)\//.test(path) ? '' : '/edge/management/v1'
    const headers = {
      'content-type': 'application/json',
      ...(token !== undefined && { 'zt-session': token }),
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
    }
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) }
    const answer = running.controller.fetch(new Request(`https://controller.test:1280${base}${path}`, init))
    const response = await Promise.race([answer, running.killed.promise])
    const text = await response.text()
    if (response.status === 401) this.#token = undefined
    if (!response.ok) throw new Refused(response.status, `${method} ${path}: ${response.status} ${text}`)
    const read: unknown = JSON.parse(text)
    return Object(read).data ?? read
  }

  #scheduler(state: { readonly isAlive: boolean }): Scheduler {
    const { time } = this.#surroundings
    return {
      at: (instant, work) => {
        let cancel: () => void = () => undefined
        const wake = () => {
          cancel()
          if (!state.isAlive) return void this.#wakes.delete(wake)
          const leftMs = instant - (time.now + this.aheadMs)
          if (leftMs > 0) cancel = time.after(leftMs, wake)
          else {
            this.#wakes.delete(wake)
            void work()
          }
        }
        this.#wakes.add(wake)
        cancel = time.after(Math.max(0, instant - (time.now + this.aheadMs)), wake)
        return () => {
          this.#wakes.delete(wake)
          cancel()
        }
      },
    }
  }

  #log(message: string, fields?: object): void {
    this.#surroundings.trace(`${this.name} error: ${message} ${JSON.stringify(fields ?? {})}`)
  }
}

/** A refusal of an API. */
export class Refused extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export function addressOf(process: string): string {
  return `tls:${process}.test:6262`
}

const LETTERS = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'

function randomOf(choices: Choices): Random {
  const text = (length: number, letters: string) =>
    Array.from({ length }, () => letters.charAt(choices.below(letters.length))).join('')
  return {
    id: () => text(10, LETTERS),
    uuid: () => choices.uuid(),
    base32: (length) => text(length, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'),
  }
}
