import fc from 'fast-check'
import { createPkiMaterial, type Storage } from 'portcullis'
import { type ControlListener, openControlListener, routerSide } from 'portcullis/fabric'
import { memoryStorage } from 'portcullis/memory'
import {
  createTestController,
  type EnrolledRouter,
  enrollEdgeRouter,
  FakeRouter,
  TEST_ADMIN,
  type TestController,
} from 'portcullis/testing'
import { expect, it, vi } from 'vitest'
import { type FaultyStorage, faultyStorage } from '../../support/faulty-storage.ts'
import { patience, runs } from '../../support/property-runs.ts'
import { PlayedFeeds, type SavedModel } from './played-feeds.ts'

const { CONTENT_TYPE, Subscribe } = routerSide
const NOW = Date.UTC(2026, 0, 1)
const pki = await createPkiMaterial({ hosts: ['controller.test'], trustDomain: 'test', now: NOW })
const ATTRIBUTES = ['a', 'b']

interface Process {
  readonly controller: TestController
  readonly storage: FaultyStorage
  readonly listener: ControlListener
}

/** Two processes that serve routers, a third that answers the API, and a router that goes from one to the other. */
class World {
  readonly #shared = memoryStorage()
  readonly feeds = new PlayedFeeds()
  #now = NOW
  #api: TestController | undefined
  #token = ''
  #enrolled: EnrolledRouter | undefined
  readonly #processes: Process[] = []
  #channel: { readonly router: FakeRouter; readonly at: number } | undefined
  #subscriptions = 0
  #saved: SavedModel | undefined
  #created = 0
  readonly #sessions: string[] = []

  static async begin(): Promise<World> {
    const world = new World()
    world.#api = await world.#start(world.#shared)
    await world.#login()
    world.#enrolled = await enrollEdgeRouter(world.#api, world.#token, { name: 'r1' })
    for (const at of [0, 1]) await world.crash(at)
    return world
  }

  async close(): Promise<void> {
    this.disconnect()
    for (const { controller } of this.#processes) await controller.close()
    await this.#api?.close()
  }

  async #start(shared: Storage): Promise<TestController> {
    return createTestController({ storage: { ...shared, close: async () => undefined }, pki, now: this.#now })
  }

  /** A process ends without a word, and another one begins in its place. */
  async crash(at: number): Promise<void> {
    const before = this.#processes[at]
    if (this.#channel?.at === at) this.disconnect()
    await before?.controller.close()
    const storage = faultyStorage(this.#shared)
    const controller = await createTestController({
      storage: Object.assign(storage, { close: async () => undefined }),
      pki,
      now: this.#now,
    })
    const listener = await openControlListener(controller, { addresses: [`tls:process-${at}:1`] })
    this.#processes[at] = { controller, storage, listener }
  }

  async #login(): Promise<void> {
    const login = { query: { method: 'password' }, body: TEST_ADMIN } as const
    this.#token = (await this.#api?.management.call('POST /authenticate', login))?.data.token ?? ''
  }

  async call(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    const headers = { 'content-type': 'application/json', 'zt-session': this.#token }
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) }
    const request = new Request(`https://controller.test/edge/management/v1${path}`, init)
    const response = await this.#api?.fetch(request)
    if (response?.status === 401) {
      await this.#login()
      return this.call(method, path, body)
    }
    return JSON.parse((await response?.text()) ?? '{}').data ?? {}
  }

  async all(path: string): Promise<readonly Record<string, unknown>[]> {
    return Object.values(await this.call('GET', `${path}?limit=500`)).map((item) => ({ ...Object(item) }))
  }

  /** Changes something of one kind: creates it, changes it or deletes it. */
  async change(kind: string, how: number): Promise<void> {
    const known = await this.all(`/${kind}`)
    const one = known.filter(({ name }) => String(name).startsWith('n'))[how % 7]
    const attributes = ATTRIBUTES.filter((_, at) => (how >> at) % 2 === 1)
    this.#created += 1
    const name = `n${this.#created}`
    if (one === undefined || how % 3 === 0) await this.call('POST', `/${kind}`, bodyOf(kind, name, attributes))
    else if (how % 3 === 1) await this.call('DELETE', `/${kind}/${one.id}`)
    else await this.call('PATCH', `/${kind}/${one.id}`, changeOf(kind, name, attributes))
  }

  async logIn(): Promise<void> {
    const login = { query: { method: 'password' }, body: TEST_ADMIN } as const
    const answer = await this.#api?.management.call('POST /authenticate', login)
    this.#sessions.push(String(answer?.data.id))
  }

  async logOut(which: number): Promise<void> {
    const [id] = this.#sessions.splice(which % (this.#sessions.length + 1), 1)
    if (id !== undefined) await this.call('DELETE', `/api-sessions/${id}`)
  }

  async connect(at: number): Promise<void> {
    this.disconnect()
    const process = this.#processes[at]
    const enrolled = this.#enrolled
    if (process === undefined || enrolled === undefined) throw new Error('the world has not begun')
    const router: FakeRouter = new FakeRouter(enrolled, process.listener, {
      onFrame: (frame) => {
        if (this.#channel?.router === router) this.feeds.take(frame)
        return true
      },
    })
    // A process keeps the place of a router until it has noticed that it is gone; the storage may be away.
    for (let attempt = 0; attempt < 20; attempt += 1) {
      this.#channel = { router, at }
      if ((await router.connect()).accepted) break
      await this.elapse(1000)
    }
    router.send(CONTENT_TYPE.clientHello, routerSide.ClientHello.encode({ hostname: 'r1.test' }))
  }

  disconnect(): void {
    this.#channel?.router.close()
    this.#channel = undefined
    this.feeds.subscriptionId = ''
  }

  get isSubscribed(): boolean {
    return this.#channel !== undefined && this.feeds.subscriptionId !== ''
  }

  subscribe(renew: boolean): void {
    if (this.#channel === undefined || this.#channel.router.isClosed) return
    if (!renew || this.feeds.subscriptionId === '') {
      this.#subscriptions += 1
      this.feeds.subscriptionId = `s${this.#subscriptions}`
      this.feeds.hasGap = false
    }
    const { index: currentIndex, timelineId, subscriptionId } = this.feeds
    const body = { currentIndex, timelineId, subscriptionId, renew, subscriptionDurationSeconds: 300 }
    this.#channel.router.send(CONTENT_TYPE.subscribeToModel, Subscribe.encode(body))
  }

  /** The router ends, and begins again with the model that it saved some time ago. */
  restart(): void {
    this.disconnect()
    if (this.#saved !== undefined) this.feeds.restart(this.#saved)
  }

  save(): void {
    this.#saved = this.feeds.save()
  }

  fail(at: number, call: number, when: 'before' | 'after'): void {
    const storage = this.#processes[at]?.storage
    if (storage !== undefined) storage.fault = { call, when }
  }

  async elapse(ms: number): Promise<void> {
    this.#now += ms
    for (const { controller } of this.#processes) await controller.elapse(ms)
    await this.#api?.elapse(ms)
  }

  /** The router finds out by itself what it missed. */
  async settle(): Promise<void> {
    await this.elapse(1000)
    if (this.feeds.hasGap) this.subscribe(false)
    await new Promise((resolve) => setImmediate(resolve))
  }

  /** Everything that a router has to know, worked out from the answers of the API. */
  async expected() {
    const kinds = ['identities', 'services', 'service-policies', 'posture-checks'] as const
    const [people = [], services = [], policies = [], checks = []] = await Promise.all(
      kinds.map((kind) => this.all(`/${kind}`)),
    )
    const selected = (roles: unknown, entities: typeof people) =>
      entities
        .filter(({ roleAttributes }) => listOf(roles).some((role) => listOf(roleAttributes).includes(role.slice(1))))
        .map(({ id }) => String(id))
        .sort()
    const relations = policies.flatMap(({ id, serviceRoles, identityRoles, postureCheckRoles }) => {
      const sides: readonly (readonly [string, readonly string[]])[] = [
        [`${id} services`, selected(serviceRoles, services)],
        [`${id} identities`, selected(identityRoles, people)],
        [`${id} posture-checks`, selected(postureCheckRoles, checks)],
      ]
      return sides
    })
    return {
      identities: people.map(({ id, name, disabled }) => `${id} ${name} ${disabled}`).sort(),
      services: services.map(({ id, name }) => `${id} ${name}`).sort(),
      policies: policies.map(({ id, name, type }) => `${id} ${name} ${type}`).sort(),
      checks: checks.map(({ id }) => String(id)).sort(),
      revocations: (await this.all('/revocations')).map(({ id }) => String(id)).sort(),
      relations: relations.filter(([, ids]) => ids.length > 0).sort(),
      apiSessions: (await this.all('/api-sessions')).map(({ id }) => String(id)).sort(),
    }
  }

  /** The same as the router has it. */
  known(): Awaited<ReturnType<World['expected']>> {
    const { entities, relations, apiSessions } = this.feeds
    const of = (type: string) =>
      [...entities].flatMap(([key, text]) => (key.startsWith(`${type} `) ? [{ ...Object(JSON.parse(text)) }] : []))
    const related = [...relations].map(([key, ids]) => [key, [...ids].sort()] as const)
    return {
      identities: of('identity')
        .map(({ id, name, disabled }) => `${id} ${name} ${disabled}`)
        .sort(),
      services: of('service')
        .map(({ id, name }) => `${id} ${name}`)
        .sort(),
      policies: of('servicePolicy')
        .map(({ id, name, policyType }) => `${id} ${name} ${policyType}`)
        .sort(),
      checks: of('postureCheck')
        .map(({ id }) => String(id))
        .sort(),
      revocations: of('revocation')
        .map(({ id }) => String(id))
        .sort(),
      relations: related.filter(([, ids]) => ids.length > 0).sort(),
      // The mark of a full list is no session of anybody.
      apiSessions: [...apiSessions.values()].flatMap(({ id, identityId }) => (identityId === '' ? [] : [id])).sort(),
    }
  }

  async expectLevel(): Promise<void> {
    const expected = await this.expected()
    await vi.waitFor(
      async () => {
        await this.settle()
        expect(this.known()).toEqual(expected)
      },
      { timeout: 10_000, interval: 1 },
    )
    expect(this.feeds.setBack).toEqual([])
  }
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : []
}

function bodyOf(kind: string, name: string, attributes: readonly string[]): object {
  const roles = attributes.map((attribute) => `#${attribute}`)
  switch (kind) {
    case 'identities':
      return { name, type: 'Device', isAdmin: false, roleAttributes: attributes }
    case 'services':
      return { name, encryptionRequired: false, roleAttributes: attributes }
    case 'posture-checks':
      return { name, typeId: 'DOMAIN', domains: ['d'], roleAttributes: attributes }
    case 'revocations':
      return { id: `00000000-0000-4000-8000-${name.slice(1).padStart(12, '0')}`, type: 'JTI' }
    default:
      return {
        name,
        type: 'Dial',
        semantic: 'AnyOf',
        serviceRoles: roles,
        identityRoles: roles,
        postureCheckRoles: roles,
      }
  }
}

function changeOf(kind: string, name: string, attributes: readonly string[]): object {
  const roles = attributes.map((attribute) => `#${attribute}`)
  if (kind === 'posture-checks') return { typeId: 'DOMAIN', name, roleAttributes: attributes }
  if (kind === 'service-policies') return { name, identityRoles: roles, postureCheckRoles: roles }
  return { name, roleAttributes: attributes }
}

type Step = (world: World) => Promise<void> | void

const place = fc.nat(1)
const KINDS = ['identities', 'services', 'service-policies', 'posture-checks', 'revocations']
const step: fc.Arbitrary<readonly [string, Step]> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.constantFrom(...KINDS), fc.nat(100))
      .map(([kind, how]) => [`change ${kind} ${how}`, (world: World) => world.change(kind, how)] as const),
  },
  { weight: 2, arbitrary: fc.constant(['log in', (world: World) => world.logIn()] as const) },
  {
    weight: 2,
    arbitrary: fc.nat(9).map((which) => [`log out ${which}`, (world: World) => world.logOut(which)] as const),
  },
  { weight: 3, arbitrary: place.map((at) => [`connect to ${at}`, (world: World) => world.connect(at)] as const) },
  { weight: 1, arbitrary: fc.constant(['disconnect', (world: World) => world.disconnect()] as const) },
  {
    weight: 4,
    arbitrary: fc.boolean().map((renew) => [`subscribe ${renew}`, (world: World) => world.subscribe(renew)] as const),
  },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom(10, 1000, 29_000, 301_000)
      .map((ms) => [`elapse ${ms}`, (world: World) => world.elapse(ms)] as const),
  },
  { weight: 1, arbitrary: place.map((at) => [`crash ${at}`, (world: World) => world.crash(at)] as const) },
  { weight: 1, arbitrary: fc.constant(['save', (world: World) => world.save()] as const) },
  { weight: 1, arbitrary: fc.constant(['restart', (world: World) => world.restart()] as const) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(place, fc.integer({ min: 1, max: 30 }), fc.constantFrom('before' as const, 'after' as const))
      .map(([at, call, when]) => [`fail ${at} ${call} ${when}`, (world: World) => world.fail(at, call, when)] as const),
  },
  {
    weight: 3,
    arbitrary: fc.constant([
      'look',
      async (world: World) => {
        if (world.isSubscribed) await world.expectLevel()
      },
    ] as const),
  },
)

it(
  'a router knows what the store holds, whatever it renews, leaves, comes back to or was away for',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30, size: 'max' }), fc.nat(1), async (steps, last) => {
        const world = await World.begin()
        try {
          await world.connect(0)
          world.subscribe(false)
          for (const [, act] of steps) await act(world)
          if (!world.isSubscribed) {
            await world.connect(last)
            world.subscribe(false)
          }
          await world.expectLevel()
        } finally {
          await world.close()
        }
      }),
      { ...runs(40, 15), interruptAfterTimeLimit: patience(100_000), markInterruptAsFailure: true },
    )
  },
  patience(120_000),
)

it('a session that began and ended in one instant is forgotten by a router that was at another process meanwhile', async () => {
  const world = await World.begin()
  try {
    await world.connect(0)
    world.subscribe(false)
    await world.logIn()
    await world.change('identities', 3)
    await world.connect(1)
    await world.change('identities', 4)
    await world.logOut(0)
    world.fail(1, 17, 'after')
    await world.connect(0)
    await world.change('identities', 65)
    await world.change('services', 18)
    await world.connect(1)
    await world.change('service-policies', 71)
    await world.connect(0)
    world.subscribe(false)
    await world.expectLevel()
    expect(world.known().apiSessions).toHaveLength(1)
  } finally {
    await world.close()
  }
})
