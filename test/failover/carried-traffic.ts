import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { enroll, type Identity, openIdentity, type ServiceConnection } from 'portcullis/sdk'
import { vi } from 'vitest'
import { enrollRouter } from '../../adapters/network/router/control/enrolled-router.ts'
import { runRouter, type StandaloneRouter } from '../../adapters/network/router/standalone-router.ts'
import type { Admin } from '../../examples/traffic/network.ts'

const CIRCUITS_OF_EACH = 4
const PAUSE_MS = 20
const MINUTE = 60_000

/** The figures of the traffic until now. */
export interface TrafficFigures {
  readonly lines: number
  readonly circuits: number
  /** The longest time between two lines of one circuit, ms. */
  readonly longestGapMs: number
}

/**
 * Two routers with a link between them, a host at one, clients at the other, and circuits over which a line goes there and back
 * all the time. What is lost of it is noted.
 */
export class CarriedTraffic {
  /** Every circuit, link and channel to a controller that ended, with the reason. */
  readonly lost: string[] = []
  readonly #routers: StandaloneRouter[] = []
  readonly #identities: Identity[] = []
  readonly #clients = new Map<string, Identity>()
  /** How many lines each circuit brought back. */
  readonly #carried = new Map<string, number>()
  #longestGapMs = 0
  #isOver = false

  /** Opens it; `controllers` is to how many processes each router is connected. */
  static async open(admin: Admin, controllers: number): Promise<CarriedTraffic> {
    const traffic = new CarriedTraffic()
    const east = await traffic.#router(admin, 'east')
    const west = await traffic.#router(admin, 'west')
    await vi.waitUntil(() => traffic.#routers.every((router) => router.controllers.length === controllers), MINUTE)
    await vi.waitUntil(() => traffic.#routers.every(({ router }) => router.links.all.length === 1), MINUTE)
    await admin.create('/services', { name: 'echo', encryptionRequired: true, roleAttributes: ['echo'] })
    for (const [type, role, router] of [
      ['Dial', '#clients', east],
      ['Bind', '#hosts', west],
    ] as const) {
      const roles = { identityRoles: [role], semantic: 'AnyOf' }
      await admin.create('/service-policies', { ...roles, name: type, type, serviceRoles: ['#echo'] })
      await admin.create('/edge-router-policies', { ...roles, name: type, edgeRouterRoles: [`@${router}`] })
    }
    const everywhere = { name: 'echo', semantic: 'AnyOf', edgeRouterRoles: ['#all'], serviceRoles: ['#echo'] }
    await admin.create('/service-edge-router-policies', everywhere)
    const host = await traffic.#identity(admin, 'hosts', 'api-session')
    const hosted = await host.host('echo', (connection: ServiceConnection) => void connection.pipe(connection))
    await vi.waitUntil(() => hosted.routers.length === 1, MINUTE)
    for (const sessions of ['api-session', 'bearer'] as const) {
      traffic.#clients.set(sessions, await traffic.#identity(admin, 'clients', sessions))
      for (let count = 1; count < CIRCUITS_OF_EACH; count += 1) await traffic.#dial(sessions)
    }
    await traffic.dialAgain()
    await traffic.goesOn()
    return traffic
  }

  get figures(): TrafficFigures {
    const lines = [...this.#carried.values()].reduce((sum, count) => sum + count, 0)
    return { lines, circuits: this.#carried.size, longestGapMs: Math.round(this.#longestGapMs) }
  }

  /** Every client dials once more, by the session that it has. */
  async dialAgain(): Promise<void> {
    for (const sessions of this.#clients.keys()) await this.#dial(sessions)
  }

  /** Waits until every circuit has carried lines that were sent after the call. */
  async goesOn(): Promise<void> {
    const before = new Map(this.#carried)
    await vi.waitUntil(() => [...this.#carried].every(([name, count]) => count > (before.get(name) ?? 0) + 1), MINUTE)
  }

  async close(): Promise<void> {
    this.#isOver = true
    for (const identity of this.#identities) await identity.close()
    for (const router of this.#routers) await router.close()
  }

  async #router(admin: Admin, name: string): Promise<string> {
    const id = await admin.create('/edge-routers', { name, isTunnelerEnabled: false })
    const { enrollmentJwt } = await admin.call('GET', `/edge-routers/${id}`)
    const identity = await enrollRouter(String(enrollmentJwt), ['127.0.0.1', 'localhost'])
    const log = (event: string, fields: object) => {
      const isLoss = event === 'controller.lost' || event === 'link.closed'
      if (isLoss && !this.#isOver) this.lost.push(`${name}: ${event} ${JSON.stringify(fields)}`)
    }
    // One that listens and one that dials keep one link.
    const link = name === 'east' ? {} : { dialGroups: [] }
    this.#routers.push(await runRouter({ ...link, identity, listen: '127.0.0.1:0', log }))
    return id
  }

  async #identity(admin: Admin, role: string, sessions: 'api-session' | 'bearer'): Promise<Identity> {
    const body = { name: `${role} ${sessions}`, type: 'Device', isAdmin: false, roleAttributes: [role] }
    const id = await admin.create('/identities', { ...body, enrollment: { ott: true } })
    const { enrollment } = await admin.call('GET', `/identities/${id}`)
    const opened = await openIdentity(await enroll(String(Object(Object(enrollment).ott).jwt)), { sessions })
    this.#identities.push(opened)
    return opened
  }

  async #dial(sessions: string): Promise<void> {
    const connection = await this.#clients.get(sessions)?.dial('echo')
    if (connection !== undefined) void this.#carry(`circuit ${sessions} ${this.#carried.size}`, connection)
  }

  /** Sends lines over a circuit, each after the one before came back as it was. */
  async #carry(name: string, connection: ServiceConnection): Promise<void> {
    let reason = 'it was closed'
    connection.on('error', ({ message }) => {
      reason = message
    })
    this.#carried.set(name, 0)
    // `once` would reject where an error comes first.
    const over = new Promise((resolve) => connection.once('close', resolve))
    let sent = 0
    let at = performance.now()
    connection.write(`line ${sent}\n`)
    try {
      for await (const line of createInterface({ input: connection, crlfDelay: Number.POSITIVE_INFINITY })) {
        if (line !== `line ${sent}`) this.lost.push(`${name}: '${line}' came instead of line ${sent}`)
        this.#longestGapMs = Math.max(this.#longestGapMs, performance.now() - at)
        this.#carried.set(name, (this.#carried.get(name) ?? 0) + 1)
        await sleep(PAUSE_MS)
        sent += 1
        at = performance.now()
        connection.write(`line ${sent}\n`)
      }
    } catch {
      // The reason is known by then.
    }
    await over
    if (!this.#isOver) this.lost.push(`${name}: ${reason}`)
  }
}
