import fc from 'fast-check'
import { createPkiMaterial, type DirectoryChange, type PkiMaterial, SYSTEM_CALL } from 'portcullis'
import { beforeAll, expect, it } from 'vitest'
import { patience, runs } from '../support/property-runs.ts'
import { type ControllerProcess, type DirectoryOf, MortalNetwork } from './mortal-network.ts'
import { MortalPair } from './mortal-pair.ts'
import { anyFaultAt, faultsAt, type PlacedFault } from './placed-fault.ts'

const NOW = Date.UTC(2026, 0, 1)
const SECOND_MS = 1000
const MINUTE_MS = 60_000
/** Milliseconds for which an answer of the directory counts. */
const KEEP_MS = 120_000
/** Milliseconds after which an answer is too late. */
const DIRECTORY_MS = 3000
/** Milliseconds that a question and the write of its answer may take. */
const ANSWER_MS = 10_000
/** Steps by which an answer of the directory is had and stored. */
const AGREEMENTS = ['ask', 'ask', 'write', 'update', 'get']
const DEEDS = ['joins', 'joins unreported', 'leaves', 'logs in', 'waits', 'waits long', 'starts again'] as const
const anyDeed = fc.record({ at: fc.constantFrom(0, 1), what: fc.constantFrom(...DEEDS), isBesides: fc.boolean() })

/** Something that happens at a process, alone or besides a login at the other one. */
type Deed = Readonly<{ at: number; what: (typeof DEEDS)[number]; isBesides: boolean }>
/** The directory of one process, and how many answers it gave in time. */
interface Reporting {
  readonly report: (change: DirectoryChange) => Promise<void>
  readonly answers: () => number
}

let pki: PkiMaterial
beforeAll(async () => {
  pki = await createPkiMaterial({ hosts: ['controller.test'], trustDomain: 'controller.test', now: NOW })
})

/** Two processes over one store with one directory, in which anna belongs to the staff or does not. Staff may dial the wiki. */
class Directed extends MortalPair {
  #groups: string[] = []
  /** When anna left the staff; undefined while she belongs to it, or never did. */
  #leftAt: number | undefined
  #annaId = ''
  /** The directory of the process that began last. */
  #latest: Reporting | undefined
  readonly #directories: (Reporting | undefined)[] = [undefined, undefined]

  constructor() {
    super(new MortalNetwork(pki, NOW, (step) => this.#directoryOf(step)))
  }

  readonly #directoryOf: DirectoryOf = (step) => {
    let answers = 0
    return {
      keepForMs: KEEP_MS,
      attributesOf: async ({ name }) => {
        const { clock } = this.network
        const begun = clock.now()
        const answer = await step('ask', async () => (name === 'anna' ? this.#groups : undefined))
        if (clock.now() - begun <= DIRECTORY_MS) answers += 1
        return answer
      },
      changed: (listener) => {
        this.#latest = { report: listener, answers: () => answers }
        return () => {}
      },
    }
  }

  async prepare(): Promise<void> {
    const { engine } = (await this.settled(0)).controller
    const anna = { name: 'anna', externalId: 'anna@x', type: 'User' as const, isAdmin: false }
    this.#annaId = (await engine.identities.create(SYSTEM_CALL, anna)).id
    await engine.services.create(SYSTEM_CALL, { name: 'wiki', encryptionRequired: true })
    await engine.servicePolicies.create(SYSTEM_CALL, {
      ...{ name: 'staff dial the wiki', type: 'Dial', semantic: 'AnyOf' },
      ...{ identityRoles: ['#staff'], serviceRoles: ['#all'] },
    })
    await this.settled(1)
  }

  override async at(place: number): Promise<ControllerProcess | undefined> {
    const known = this.processes[place]
    const process = await super.at(place)
    if (process !== known) this.#directories[place] = this.#latest
    return process
  }

  async does({ at, what, isBesides }: Deed): Promise<void> {
    const process = await this.at(at)
    const other = isBesides ? await this.at(1 - at) : undefined
    if (process === undefined) return
    const login = other && this.beginLogin(other)
    if (what === 'starts again') process.life.isDead = true
    if (what === 'waits') await this.network.elapse(MINUTE_MS)
    if (what === 'waits long') await this.network.elapse(KEEP_MS / 2)
    if (what === 'logs in') await this.beginLogin(process)()
    if (what === 'joins unreported') this.#joins()
    if (what === 'joins' || what === 'leaves') await this.#changed(process, at, what, login)
    await login?.()
  }

  /** Begins a login of anna, which asks the directory. Answers what waits for its end. */
  beginLogin({ controller, life }: ControllerProcess): () => Promise<void> {
    const login = controller.engine.host.startSession(this.#annaId)
    login.catch(() => undefined)
    return async () => {
      if ((await this.network.outcome(life, login, KEEP_MS)) === 'hangs') life.isDead = true
    }
  }

  /** The directory changes and reports it. When its report is answered, its answer counts, unless it gave none. */
  async #changed(
    process: ControllerProcess,
    at: number,
    what: 'joins' | 'leaves',
    login: (() => Promise<void>) | undefined,
  ): Promise<void> {
    // A login besides asks before the change.
    if (login !== undefined) await this.network.elapse(1)
    if (what === 'joins') this.#joins()
    else {
      this.#groups = []
      this.#leftAt ??= this.network.clock.now()
    }
    const directory = this.#directories[at]
    if (directory === undefined) throw new Error('the process has no directory')
    const before = directory.answers()
    const report = directory.report({ externalId: 'anna@x' })
    const ended = await this.network.outcome(process.life, report, KEEP_MS)
    if (ended === 'hangs') process.life.isDead = true
    if (typeof ended === 'string') return
    expect(ended, 'a report never rejects').toHaveProperty('value')
    if (directory.answers() === before) return
    await this.withoutFaults(() => this.assertTrue())
    const reportedAt = this.network.clock.now()
    await login?.()
    // A login that hangs may outlast the answer.
    if (this.network.clock.now() - reportedAt <= ANSWER_MS) await this.withoutFaults(() => this.assertTrue())
  }

  #joins(): void {
    this.#groups = ['staff']
    this.#leftAt = undefined
  }

  async withoutFaults(work: () => Promise<void>): Promise<void> {
    const { faultOf } = this.network
    this.network.faultOf = () => undefined
    await work()
    this.network.faultOf = faultOf
  }

  /** Checks that every process that answers decides as the directory says. */
  async assertTrue(): Promise<void> {
    for (const allowed of await this.#answers()) expect(allowed, String(this.#groups)).toBe(this.#groups.length > 0)
  }

  /** Checks that nobody has access for longer than an answer counts. */
  async assertNothingOutlives(): Promise<void> {
    if (this.#leftAt === undefined || this.network.clock.now() <= this.#leftAt + KEEP_MS + ANSWER_MS) return
    for (const allowed of await this.#answers()) expect(allowed, 'left long ago').toBe(false)
  }

  async #answers(): Promise<boolean[]> {
    const answers: boolean[] = []
    for (const process of this.processes) {
      if (process === undefined || process.life.isDead) continue
      const asking = process.controller.engine.access.explain(SYSTEM_CALL, 'anna', 'wiki', 'Dial')
      const ended = await this.network.outcome(process.life, asking, SECOND_MS)
      if (typeof ended !== 'string' && 'value' in ended)
        answers.push(ended.value.policies.some(({ applies }) => applies))
    }
    return answers
  }
}

/** A write of the answer fails, or its outcome is lost. */
function inWrites(isDone: boolean): PlacedFault[] {
  return [0, 1, 2].map((at) => ({ place: { of: 'write', at }, way: 'fails', isDone, forMs: SECOND_MS }))
}

const late = (at: number): PlacedFault => ({ place: { of: 'ask', at }, way: 'hangs', isDone: true, forMs: SECOND_MS })
const change = (at: number, what: Deed['what'], isBesides = false): Deed => ({ at, what, isBesides })

it(
  'a change of the directory holds in every process when its report is answered, and nothing outlives its answer, whatever step fails, hangs or is the last',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyDeed, { minLength: 1, maxLength: 8 }),
        fc.array(anyFaultAt(AGREEMENTS), { minLength: 1, maxLength: 4 }),
        async (deeds, faults) => {
          const directed = new Directed()
          await directed.prepare()
          directed.network.faultOf = faultsAt(faults)
          for (const deed of deeds) {
            await directed.does(deed)
            await directed.withoutFaults(() => directed.assertNothingOutlives())
          }
          directed.network.faultOf = () => undefined
          // A process whose storage never answers it is ended by its owner.
          if (faults.some(({ way, forMs }) => way === 'hangs' && forMs === Number.POSITIVE_INFINITY)) directed.kill()
          await directed.settled(1)
          await directed.beginLogin(await directed.settled(0))()
          await directed.network.elapse(KEEP_MS + MINUTE_MS)
          await directed.assertTrue()
          await directed.network.close()
        },
      ),
      {
        ...runs(45, 4),
        examples: [
          [[change(0, 'joins'), change(1, 'leaves')], inWrites(false)],
          [[change(0, 'joins'), change(1, 'leaves')], inWrites(true)],
          [[change(0, 'joins'), change(0, 'leaves', true)], [late(1)]],
          [[change(0, 'leaves'), change(0, 'joins', true)], [late(1)]],
          [[change(0, 'joins unreported'), change(0, 'leaves', true)], [late(0)]],
        ],
      },
    )
  },
  patience(300_000),
)
