import { didYouMean } from '../../../../src/base/arguments.ts'
import { listed, quoted } from '../../../../src/base/text.ts'
import type { Controller, ControllerFetch, HostEvents, Scheduler, Storage } from '../../../../src/index.ts'
import type { JoinableStorage } from '../../../../src/storage.ts'
import { ConnectionDropped } from '../faults.ts'
import { fetchOver } from './over-path.ts'
import type { TestPaths } from './test-network.ts'
import { type ProcessPorts, type RunningProcess, TestProcess } from './test-process.ts'

interface Parts {
  readonly names: readonly string[]
  readonly storage: Storage | JoinableStorage
  readonly scheduler: Scheduler
  readonly paths: TestPaths
  /** Puts faults and the record around the requests of a controller. */
  readonly around: (fetch: ControllerFetch) => ControllerFetch
  readonly create: (ports: ProcessPorts) => Promise<Controller>
}

/** Ends a listener of events; a promise of that where the storage is asked first. */
type Stop = (() => void) | Promise<() => void>

/** A listener of events, which listens at one controller after the other. */
interface Following {
  readonly begin: (events: HostEvents) => Stop
  stop: Stop
}

/** The controllers of a test over one storage. The first running controller answers for all. */
export class TestProcesses {
  readonly #parts: Parts
  readonly #running = new Map<string, TestProcess>()
  readonly #starting = new Set<string>()
  readonly #followings = new Set<Following>()
  /** The controller at which they listen. */
  #followed: RunningProcess | undefined
  readonly #onStart: ((process: RunningProcess) => Promise<void>)[] = []
  /** The address that tokens name, if it changed. */
  #address: string | undefined
  #starts = 0

  constructor(parts: Parts) {
    this.#parts = parts
  }

  get names(): readonly string[] {
    return this.#parts.names
  }

  async startAll(): Promise<void> {
    for (const name of this.names) await this.#start(name)
  }

  /** The controllers that run, in their order. */
  get running(): readonly RunningProcess[] {
    return this.#parts.names.flatMap((name) => this.#running.get(name) ?? [])
  }

  /** The first running controller. */
  get current(): RunningProcess {
    const [first] = this.running
    if (first === undefined) throw new Error(`no controller runs: restart one of ${listed(this.#parts.names)}`)
    return first
  }

  /** The first controller that runs and is not cut off from an end. */
  reachedFrom(end: string): RunningProcess {
    const { running } = this
    const reached = running.find(({ name }) => !this.#parts.paths.between(end, name).isCut) ?? running[0]
    if (reached === undefined) throw new ConnectionDropped()
    return reached
  }

  /** The way of requests to the first controller that runs. */
  readonly fetch: ControllerFetch = async (request, connection) => {
    const [first] = this.running
    if (first === undefined) throw new ConnectionDropped()
    return first.fetch(request, connection)
  }

  /** The way of the requests of an end. */
  fetchFrom(end: string): ControllerFetch {
    return async (request, connection) => {
      const { name, fetch } = this.reachedFrom(end)
      return fetchOver(this.#parts.paths.between(end, name), fetch)(request, connection)
    }
  }

  /** A controller with the members of the first running controller. */
  asController(): Controller {
    const members: PropertyDescriptorMap = {}
    for (const key of Reflect.ownKeys(this.current.controller)) {
      members[key as string] = { enumerable: true, get: () => Reflect.get(this.current.controller, key) }
    }
    const changeAddress = (address: string) => {
      this.#address = address
      for (const { controller } of this.running) controller.changeAddress(address)
    }
    return withMembers(Object.defineProperties({}, members) as Controller, { changeAddress, events: this.#events() })
  }

  /** Does work for each controller that runs, and for each that is started later. */
  async eachStart(work: (process: RunningProcess) => Promise<void>): Promise<void> {
    this.#onStart.push(work)
    for (const process of this.running) await work(process)
  }

  kill(name: string): void {
    const process = this.#running.get(this.#known('kill', name))
    if (process === undefined) throw new Error(`kill: ${quoted(name)} does not run`)
    process.kill()
    this.#running.delete(name)
    this.#parts.paths.reset(name)
    this.#follow()
  }

  async restart(name: string): Promise<void> {
    if (this.#running.has(this.#known('restart', name)) || this.#starting.has(name))
      throw new Error(`restart: ${quoted(name)} runs; kill it first`)
    await this.#start(name)
    this.#follow()
  }

  async close(): Promise<void> {
    await Promise.all(this.running.map(({ controller }) => controller.close()))
    await this.#parts.storage.close()
  }

  async #start(name: string): Promise<void> {
    const { create, storage, scheduler, around } = this.#parts
    const process = new TestProcess(name)
    this.#starting.add(name)
    try {
      const ports = { storage: process.storage(storage), scheduler: process.scheduler(scheduler) }
      process.begin(await create({ ...ports, startsBefore: this.#starts++ }), around)
      if (this.#address !== undefined) process.controller.changeAddress(this.#address)
      for (const work of this.#onStart) await work(process)
      this.#running.set(name, process)
    } catch (error) {
      process.kill()
      throw error
    } finally {
      this.#starting.delete(name)
    }
  }

  #known(method: string, name: string): string {
    const { names } = this.#parts
    if (names.includes(name)) return name
    const known = listed(names.map((each) => quoted(each)))
    throw new TypeError(
      `${method}: there is no controller ${quoted(String(name))}${didYouMean(String(name), names)}: there are ${known}`,
    )
  }

  /** Events of the first controller that runs; listeners move on to the next one. */
  #events(): HostEvents {
    this.#followed = this.current
    const begun = (begin: Following['begin']) => {
      const following = { begin, stop: begin(this.current.controller.events) }
      this.#followings.add(following)
      return following
    }
    const stopOf = (following: Following) => () => {
      this.#followings.delete(following)
      end(following.stop)
    }
    return {
      on: (name, listener) => stopOf(begun((events) => events.on(name, listener))),
      deployed: (listener, kinds) => stopOf(begun((events) => events.deployed(listener, kinds))),
      subscribe: async (name, handler, options) => {
        const following = begun((events) => events.subscribe(name, handler, options))
        try {
          await following.stop
        } catch (error) {
          this.#followings.delete(following)
          throw error
        }
        return stopOf(following)
      },
    }
  }

  #follow(): void {
    const [first] = this.running
    if (first === undefined || first === this.#followed) return
    for (const following of this.#followings) {
      if (this.#followed?.isAlive) end(following.stop)
      following.stop = following.begin(first.controller.events)
    }
    this.#followed = first
  }
}

function end(stop: Stop): void {
  if (typeof stop === 'function') stop()
  else void stop.then((stopNow) => stopNow())
}

/** An object with the members of `base`, getters as getters, and `members` in place of those of the same name. */
export function withMembers<Base extends object, Members extends object>(
  base: Base,
  members: Members,
): NoInfer<Omit<Base, keyof Members> & Members> {
  const own = Object.getOwnPropertyDescriptors
  return Object.defineProperties({}, { ...own(base), ...own(members) }) as NoInfer<Omit<Base, keyof Members> & Members>
}
