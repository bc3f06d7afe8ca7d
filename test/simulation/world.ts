import { createPkiMaterial, type Storage } from 'portcullis'
import { type MemoryStorage, memoryStorage } from 'portcullis/memory'
import { createTestController, type EnrolledRouter, enrollEdgeRouter } from 'portcullis/testing'
import type { RouterIdentity } from '../../adapters/network/router/index.ts'
import { simulateRuntime } from '../../src/testing.ts'
import { Choices } from './choices.ts'
import { ByteCuts } from './cut-bytes.ts'
import type { AskedChange } from './evidence.ts'
import { KnownFacts } from './known-facts.ts'
import { type Manner, mannerOf } from './manner.ts'
import { PlayedDirectory } from './played-directory.ts'
import { PlayedRouter } from './played-router.ts'
import { PlayedSigner } from './played-signer.ts'
import { Receiver } from './receiver.ts'
import { drawFrom } from './repeatable-crypto.ts'
import { enrollRunningRouter, RunningRouter } from './running-router.ts'
import { addressOf, SimulatedProcess, type Surroundings } from './simulated-process.ts'
import { BEGINNING, SimulatedTime } from './simulated-time.ts'
import type { KnownRequest } from './timed-acts.ts'
import { Wires } from './wires.ts'

const PROCESSES = ['one', 'two'] as const
/** The process that some runs have beside them. */
export const WITHOUT_ROUTER = 'three'
const ROUTERS = ['r0', 'r1', 'r2'] as const
export const SERVICE = 'web'
/** An identity with rights for some time. */
export const OPERATOR = 'operator'
/** Devices that dial and host by the edge router of a process. */
const DEVICES = { laptop: ['dials'], box: ['hosts'], [OPERATOR]: [] } as const
/** The attributes by which policies without a term grant. */
export const ROLES = ['dials', 'hosts'] as const
/** The last router is a guest: only a policy with a term, a request or a later role gives it a right. */
const ROLES_OF = [ROLES, ROLES, []] as const

/** The network that every run begins with. */
interface Beginning {
  /** The same with an edge router that runs as a program of its own. */
  readonly withRunning: { readonly storage: MemoryStorage; readonly identity: RouterIdentity }
  readonly storage: MemoryStorage
  readonly pki: Surroundings['pki']
  readonly routers: readonly EnrolledRouter[]
  readonly devices: ReadonlyMap<string, string>
  readonly serviceId: string
  readonly policies: ReadonlyMap<string, { readonly type: 'Dial' | 'Bind'; readonly role: string }>
}

let beginning: Promise<Beginning> | undefined

/** Built once in a process, from a seed of its own. */
export function beginningOf(): Promise<Beginning> {
  beginning ??= build()
  return beginning
}

async function build(): Promise<Beginning> {
  const time = new SimulatedTime()
  const choices = new Choices(0)
  drawFrom(choices)
  const restore = simulateRuntime(time.runtime(choices))
  try {
    return await time.until(made(time, choices))
  } finally {
    restore()
  }
}

async function made(time: SimulatedTime, choices: Choices): Promise<Beginning> {
  const storage = memoryStorage()
  const pki = await createPkiMaterial({ hosts: ['controller.test'], trustDomain: 'test', now: BEGINNING })
  const net = await createTestController({ storage: { ...storage, close: async () => undefined }, pki, now: BEGINNING })
  const { data: session } = await net.management.call('POST /authenticate', {
    query: { method: 'password' },
    body: { username: 'admin', password: 'admin-password' },
  })
  const routers: EnrolledRouter[] = []
  for (const [at, name] of ROUTERS.entries()) {
    const router = await enrollEdgeRouter(net, session.token, {
      name,
      isTunnelerEnabled: true,
      roleAttributes: ['all'],
    })
    const roleAttributes = [...(ROLES_OF[at] ?? [])]
    await net.admin.call('PATCH /identities/{id}', { params: { id: router.id }, body: { roleAttributes } })
    routers.push(router)
  }
  const service = { name: SERVICE, encryptionRequired: false, roleAttributes: [SERVICE] }
  const serviceId = (await net.admin.call('POST /services', { body: service })).data.id
  const everywhere = { name: 'all', semantic: 'AnyOf' as const, edgeRouterRoles: ['#all'] }
  await net.admin.call('POST /edge-router-policies', { body: { ...everywhere, identityRoles: ['#all'] } })
  await net.admin.call('POST /service-edge-router-policies', { body: { ...everywhere, serviceRoles: ['#all'] } })
  const policies = new Map<string, { readonly type: 'Dial' | 'Bind'; readonly role: string }>()
  for (const [type, role] of [
    ['Dial', 'dials'],
    ['Bind', 'hosts'],
  ] as const) {
    const roles = { serviceRoles: [`#${SERVICE}`], identityRoles: [`#${role}`] }
    const body = { name: type, type, semantic: 'AnyOf' as const, ...roles }
    policies.set((await net.admin.call('POST /service-policies', { body })).data.id, { type, role })
  }
  const devices = new Map<string, string>()
  for (const [name, roles] of Object.entries(DEVICES)) {
    const body = { name, type: 'Device' as const, isAdmin: false, roleAttributes: [...roles] }
    devices.set(name, (await net.admin.call('POST /identities', { body })).data.id)
  }
  await net.close()
  // The edge router of each process is enrolled once and not in every run.
  const wires = new Wires(time, choices, () => undefined)
  const alone = {
    time,
    choices,
    wires,
    shared: storage,
    pki,
    receiver: new Receiver(),
    directory: undefined,
    signer: undefined,
    linksOwnRouters: false,
    trace: () => undefined,
    processAt: () => undefined,
  }
  for (const name of PROCESSES) {
    const process = new SimulatedProcess(name, alone)
    await process.start()
    await process.close()
  }
  // A copy has one router more: the other networks are as they were before there was one.
  const further = storage.fork()
  const other = await createTestController({ storage: further, pki, now: time.now })
  const { data } = await other.management.call('POST /authenticate', {
    query: { method: 'password' },
    body: { username: 'admin', password: 'admin-password' },
  })
  const identity = await enrollRunningRouter(other, data.token)
  await other.close()
  return { storage, pki, routers, devices, serviceId, policies, withRunning: { storage: further, identity } }
}

/** A network of a run. */
export class World {
  readonly time = new SimulatedTime()
  readonly choices: Choices
  readonly manner: Manner
  readonly wires: Wires
  readonly facts = new KnownFacts(() => this.faultAt)
  readonly receiver = new Receiver()
  readonly directory: PlayedDirectory
  readonly signer: PlayedSigner
  /** The store of all processes. */
  readonly shared: Storage
  /** The certificates of the network. */
  readonly pki: Surroundings['pki']
  readonly processes: readonly SimulatedProcess[]
  readonly routers: readonly PlayedRouter[]
  /** The edge router of a program of its own, in networks that have one. */
  readonly running: RunningRouter | undefined
  readonly devices: ReadonlyMap<string, string>
  readonly serviceId: string
  /** The dialer of each circuit that was answered. */
  readonly dialers = new Map<string, string>()
  /** The process that laid it, as it ran then. */
  readonly laidBy = new Map<string, { readonly isAlive: boolean }>()
  readonly trace: string[] = []
  /** How often each fault occurred. */
  readonly faults = new Map<string, number>()
  /** How often each act of networks with grants or claims had its effect. */
  readonly acts = new Map<string, number>()
  /** When the last fault ended, by the time of the run. */
  faultAt = 0
  /** When a process was killed last, by the time of the run. */
  killedAt = 0
  isAtRest = false
  /** An administrator waits for the answer of a change. */
  isChanging = false
  /** The changes that administrators asked for, in their order. */
  readonly asked: AskedChange[] = []
  /** Streams of devices, open or ended. */
  readonly streams: PlayedStream[] = []
  /** The requests of identities for access, by id. */
  readonly requests = new Map<string, KnownRequest>()
  /** Ends what is planned for later. */
  readonly planned = new Set<() => void>()
  /** The words of an oracle that found something between two steps. */
  wrong: string | undefined
  /** Work that somebody waits for: it ends within a bound, whatever happens. */
  readonly waiting = new Map<Promise<unknown>, { readonly what: string; readonly since: number }>()

  constructor(seed: number, { storage, pki, routers, devices, serviceId, policies, withRunning }: Beginning) {
    this.choices = new Choices(seed)
    this.manner = mannerOf(seed)
    const cuts = this.manner.cutsBytes ? new ByteCuts(this.choices, (effect) => this.did(effect)) : undefined
    this.wires = new Wires(this.time, this.choices, (line) => this.note(line), cuts)
    this.shared = (this.manner.hasRunningRouter ? withRunning.storage : storage).fork()
    this.pki = pki
    this.directory = new PlayedDirectory(this.time, this.choices)
    this.signer = new PlayedSigner(this.time, this.choices, this.manner.loginsLastMs)
    this.facts.claims.lastsMs = this.manner.loginsLastMs
    const surroundings: Surroundings = {
      ...{ time: this.time, choices: this.choices, wires: this.wires, shared: this.shared, pki },
      receiver: this.receiver,
      directory: this.manner.hasDirectory ? this.directory : undefined,
      signer: this.manner.hasClaims ? this.signer : undefined,
      linksOwnRouters: this.manner.hasOwnLinks,
      trace: (line) => this.note(line),
      processAt: (address) => this.processes.find(({ name }) => addressOf(name) === address),
    }
    const { aheadMs, hasThird } = this.manner
    this.processes = [...PROCESSES, ...(hasThird ? [WITHOUT_ROUTER] : [])].map((name, at) => {
      const process = new SimulatedProcess(name, surroundings, name !== WITHOUT_ROUTER)
      process.aheadMs = aheadMs[at] ?? 0
      return process
    })
    const { routersLearn } = this.manner
    this.routers = routers.map((router, at) => new PlayedRouter(ROUTERS[at] ?? '', router, surroundings, routersLearn))
    this.running = this.manner.hasRunningRouter
      ? new RunningRouter(withRunning.identity, surroundings, (effect) => this.did(effect))
      : undefined
    this.devices = devices
    this.serviceId = serviceId
    for (const [at, { id }] of routers.entries()) this.facts.roles.set(id, [ROLES_OF[at] ?? []])
    for (const [name, id] of devices) if (name !== OPERATOR) this.facts.roles.set(id, [[...Object(DEVICES)[name]]])
    for (const [id, policy] of policies) this.facts.policies.set(id, [policy])
  }

  note(line: string): void {
    this.trace.push(`${this.time.now - BEGINNING} ${line}`)
  }

  /** The identities whose roles change. */
  get memberIds(): readonly string[] {
    const [, , guest] = this.routers
    return [...this.facts.roles.keys()].filter((id) => !this.manner.hasGuest || id !== guest?.id)
  }

  /** The routers that may come to host: one alone where its circuits are to be those of other processes. */
  get hostingRouters(): readonly PlayedRouter[] {
    return this.manner.hasSlowAnswers || this.manner.isCutOff ? this.routers.slice(1, 2) : this.routers
  }

  /** Counts a fault that occurs now. */
  fault(kind: string, about: string): void {
    this.faults.set(kind, (this.faults.get(kind) ?? 0) + 1)
    this.faultAt = this.time.now
    this.note(`fault ${kind} ${about}`)
  }

  /** Counts an act that had its effect. */
  did(act: string): void {
    this.acts.set(act, (this.acts.get(act) ?? 0) + 1)
  }

  /** Work of somebody who waits; its end is noted. */
  work(what: string, work: Promise<unknown>): void {
    const waiting = work
      .then((answer) => this.note(`${what}: ${answer === undefined ? 'done' : JSON.stringify(answer)}`))
      .catch((error: unknown) => this.note(`${what}: ${error instanceof Error ? error.message : String(error)}`))
      .finally(() => this.waiting.delete(waiting))
    this.waiting.set(waiting, { what, since: this.time.now })
  }

  /** Work that begins at a later instant of the run; not in the time of rest. */
  later(ms: number, work: () => void): void {
    if (!this.isAtRest) this.planned.add(this.time.after(Math.max(0, ms), work))
  }

  processNamed(name: string | undefined): SimulatedProcess | undefined {
    return this.processes.find((process) => process.name === name)
  }

  get runningProcesses(): readonly SimulatedProcess[] {
    return this.processes.filter(({ isRunning }) => isRunning)
  }
}

/** A stream of a device to a host, which sends everything back. */
export interface PlayedStream {
  readonly client: string
  /** The process whose router, or the router of its own, by which it dialed. */
  readonly at: string
  /** By the time of the run. */
  readonly openedAt: number
  sent: string
  received: string
  isOver: boolean
  write(text: string): void
  end(): void
}
