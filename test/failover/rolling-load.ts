import { setTimeout as sleep } from 'node:timers/promises'
import { vi } from 'vitest'
import { ask, logIn, type Served } from './served-workers.ts'

const WRITERS = 4
const READERS = 4
const PAUSE_MS = 10
/** Writes that each controller acknowledges, and logins that it lets in, before the load counts as going on. */
const WRITES_OF_EACH = 40
const LOGINS_OF_EACH = 2
const PATIENCE_MS = 120_000

/** A place of a controller, at which one release follows another. */
export interface Place {
  served: Served
  state: 'serving' | 'stopping' | 'away'
}

/** The last known state of a service: `open` was asked and not answered, so that either outcome is right. */
interface Written {
  readonly id: string
  readonly version: number
  readonly state: 'present' | 'deleting' | 'gone' | 'open'
}

/** Writers, readers and logins at two controllers while one after the other is replaced, and whatever was wrong. */
export class RollingLoad {
  /** Answers that nobody should get, in words. */
  readonly wrong: string[] = []
  /** Sessions that were begun at one of the releases. */
  readonly sessions: string[] = []
  readonly written = new Map<string, Written>()
  /** Requests to a controller that was being stopped, which nobody answered. */
  unanswered = 0
  reads = 0
  readonly #places: readonly Place[]
  readonly #acknowledged = new Map<Place, number>()
  readonly #logins = new Map<Place, number>()
  readonly #loops: Promise<void>[] = []
  #isOver = false

  constructor(places: readonly Place[]) {
    this.#places = places
  }

  get acknowledged(): number {
    return [...this.#acknowledged.values()].reduce((sum, count) => sum + count, 0)
  }

  get logins(): number {
    return [...this.#logins.values()].reduce((sum, count) => sum + count, 0)
  }

  start(): void {
    for (let index = 0; index < WRITERS; index += 1) this.#loops.push(this.#repeat(() => this.#write(index)))
    for (let index = 0; index < READERS; index += 1) this.#loops.push(this.#repeat(() => this.#read()))
    this.#loops.push(this.#repeat(() => this.#logInAndOut()))
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#loops)
  }

  /** Waits until every controller has acknowledged writes, and let somebody in, since the call. */
  async goesOn(): Promise<void> {
    const [writes, logins] = [new Map(this.#acknowledged), new Map(this.#logins)]
    const grew = (now: ReadonlyMap<Place, number>, before: ReadonlyMap<Place, number>, by: number) =>
      this.#places.every((place) => (now.get(place) ?? 0) >= (before.get(place) ?? 0) + by)
    const isOn = () => grew(this.#acknowledged, writes, WRITES_OF_EACH) && grew(this.#logins, logins, LOGINS_OF_EACH)
    await vi.waitUntil(() => this.wrong.length > 0 || isOn(), PATIENCE_MS)
  }

  async #repeat(work: () => Promise<void>): Promise<void> {
    while (!this.#isOver) {
      await work().catch((error: unknown) => this.wrong.push(String(error)))
      await sleep(PAUSE_MS)
    }
  }

  /** A place whose controller is asked: those that are being stopped are asked as well. */
  #anyPlace(except?: Place): Place {
    const open = this.#places.filter((place) => place.state !== 'away' && place !== except)
    const [first] = this.#places
    const place = open[Math.floor(Math.random() * open.length)] ?? except ?? first
    if (place === undefined) throw new Error('there is no controller')
    return place
  }

  /** Asks a controller; undefined where it was stopped meanwhile. An answer of another status is wrong. */
  async #ask(place: Place, statuses: readonly number[], method: string, path: string, body?: object, token?: string) {
    const { served } = place
    const session = token ?? this.sessions[Math.floor(Math.random() * this.sessions.length)]
    const isStopped = () => place.state !== 'serving' || place.served !== served
    const wasStopped = isStopped()
    try {
      const answer = await ask(served, method, path, body, session)
      const text = await answer.text()
      const { status } = answer
      if (!statuses.includes(status)) this.wrong.push(`${method} ${path}: ${status} ${text}`)
      return { status, text }
    } catch (error) {
      if (wasStopped || isStopped()) this.unanswered += 1
      else this.wrong.push(`${method} ${path}: a controller that stays did not answer: ${error}`)
      await sleep(10 * PAUSE_MS)
      return undefined
    }
  }

  /** Creates a service, changes it three times, and deletes every third one. */
  async #write(writer: number): Promise<void> {
    const count = this.written.size
    const body = { name: `writer-${writer}-${count}-${Math.random()}`, roleAttributes: ['0'] }
    const acknowledge = (place: Place, entry: Written) => {
      this.written.set(entry.id, entry)
      this.#acknowledged.set(place, (this.#acknowledged.get(place) ?? 0) + 1)
    }
    const first = this.#anyPlace()
    const created = await this.#ask(first, [201], 'POST', '/services', body)
    if (created?.status !== 201) return
    const { id }: { readonly id: string } = JSON.parse(created.text).data
    acknowledge(first, { id, version: 0, state: 'present' })
    for (let version = 1; version <= 3; version += 1) {
      const place = this.#anyPlace()
      const answer = await this.#ask(place, [200], 'PATCH', `/services/${id}`, { roleAttributes: [`${version}`] })
      if (answer?.status !== 200) {
        this.written.set(id, { id, version: version - 1, state: 'open' })
        return
      }
      acknowledge(place, { id, version, state: 'present' })
    }
    if (count % 3 > 0) return
    this.written.set(id, { id, version: 3, state: 'deleting' })
    const place = this.#anyPlace()
    const answer = await this.#ask(place, [200], 'DELETE', `/services/${id}`)
    if (answer?.status === 200) acknowledge(place, { id, version: 3, state: 'gone' })
    else this.written.set(id, { id, version: 3, state: 'open' })
  }

  /** Reads one of the latest services: what was acknowledged before the question has to be in the answer. */
  async #read(): Promise<void> {
    const ids = [...this.written.keys()].slice(-10)
    const before = this.written.get(ids[Math.floor(Math.random() * ids.length)] ?? '')
    if (before === undefined) return
    const answer = await this.#ask(this.#anyPlace(), [200, 404], 'GET', `/services/${before.id}`)
    if (answer === undefined) return
    this.reads += 1
    const now = this.written.get(before.id)
    const stale = (what: string) => this.wrong.push(`a stale answer: service ${before.id} ${what}`)
    if (answer.status === 404) {
      if (now?.state === 'present') stale('is not there')
      return
    }
    if (before.state === 'gone') stale('is there after it was deleted')
    const { roleAttributes }: { readonly roleAttributes: readonly string[] } = JSON.parse(answer.text).data
    if (Number(roleAttributes[0]) < before.version) stale(`has version ${roleAttributes[0]}, not ${before.version}`)
  }

  /** Begins a session at one controller, uses it at the other one, ends it there, and finds it ended at the first. */
  async #logInAndOut(): Promise<void> {
    const place = this.#anyPlace()
    const other = this.#anyPlace(place)
    const { served } = place
    const token = await logIn(served).catch((error: unknown) => {
      if (place.state === 'serving' && place.served === served) this.wrong.push(`a login failed: ${error}`)
      return undefined
    })
    if (token === undefined) return
    const used = await this.#ask(other, [200], 'GET', '/current-api-session', undefined, token)
    if (used === undefined) return
    const ended = await this.#ask(other, [200], 'DELETE', '/current-api-session', undefined, token)
    if (ended === undefined) return
    const after = await this.#ask(place, [401], 'GET', '/current-api-session', undefined, token)
    if (after === undefined) return
    for (const each of new Set([place, other])) this.#logins.set(each, (this.#logins.get(each) ?? 0) + 1)
  }
}
