import { grouped } from '../../base/collections.ts'
import type { EngineContext } from '../../context/context.ts'
import type { FromRouter } from '../../facts/fabric/messages/index.ts'
import type { TerminatorSideState, TerminatorState, Validated } from '../../facts/fabric/rules/index.ts'
import { edgeRouters } from '../../facts/routers/edge-router.resource.ts'
import { services } from '../../facts/services/service.resource.ts'
import type { terminators } from '../../facts/services/terminator.resource.ts'
import type { RecordOf } from '../../kernel/declaration/resource.ts'
import { ids } from '../../kernel/filter/index.ts'
import type { ConnectedRouter, ConnectedRouters } from '../channels/connected-routers.ts'
import type { HostedTerminators } from '../hosted-terminators.ts'

type StoredTerminator = RecordOf<typeof terminators>
type Answer = { readonly state: TerminatorSideState; readonly detail: string }

interface Pending {
  readonly router: ConnectedRouter
  readonly settle: (answer: Answer) => void
}

/** The most terminators of one question. */
const TERMINATORS_PER_QUESTION = 50
const ANSWER_MS = 60_000
const OFFLINE: Answer = { state: 'unknown', detail: 'router off-line' }
const SILENT: Answer = { state: 'unknown', detail: 'the router did not answer within a minute' }

/** Asks routers whether they have the terminators that are stored for them. */
export class TerminatorComparisons {
  readonly #context: EngineContext
  readonly #routers: ConnectedRouters
  readonly #hosted: HostedTerminators
  /** By the id of the terminator: questions meanwhile get the same answer. */
  readonly #pending = new Map<string, Pending & { readonly answer: Promise<Answer> }>()

  constructor(context: EngineContext, routers: ConnectedRouters, hosted: HostedTerminators) {
    this.#context = context
    this.#routers = routers
    this.#hosted = hosted
    context.timetable.onDue('terminator-validation', async (terminatorIds) => {
      for (const id of terminatorIds) this.#settle(id, SILENT)
    })
  }

  /** Asks about every terminator of `stored` and reports each result; `fix` deletes the terminators that their routers do not have. */
  async compare(
    stored: readonly StoredTerminator[],
    fix: boolean,
    tell: (result: Validated) => void,
    isOver: () => boolean,
  ): Promise<void> {
    for (const [routerId, own] of grouped(stored, (terminator) => terminator.routerId)) {
      for (let at = 0; at < own.length && !isOver(); at += TERMINATORS_PER_QUESTION) {
        const batch = own.slice(at, at + TERMINATORS_PER_QUESTION)
        const names = await this.#namesOf(batch)
        const answers = await this.#ask(routerId, batch, fix)
        const invalid = batch.filter((_, index) => isInvalid(answers[index])).map(({ id }) => id)
        if (fix && invalid.length > 0) await this.#hosted.remove(routerId, invalid)
        for (const [index, terminator] of batch.entries()) {
          const answer = answers[index] ?? SILENT
          tell({ what: 'terminators', ...shown(terminator, names), ...answer, fixed: fix && isInvalid(answer) })
        }
      }
    }
  }

  /** A router answered; answers the ids that were asked about here: the answer alone must not delete them. */
  answered(routerId: string, { states }: Extract<FromRouter, { type: 'terminators-validated' }>): ReadonlySet<string> {
    const asked = new Set<string>()
    for (const [id, { valid, detail }] of states) {
      if (this.#pending.get(id)?.router.id !== routerId) continue
      asked.add(id)
      this.#settle(id, { state: valid ? 'valid' : 'unknown-terminator', detail })
    }
    return asked
  }

  /** A router is gone. */
  forget(router: ConnectedRouter): void {
    for (const [id, pending] of [...this.#pending]) if (pending.router === router) this.#settle(id, OFFLINE)
  }

  async #ask(routerId: string, batch: readonly StoredTerminator[], fix: boolean): Promise<readonly Answer[]> {
    const router = this.#routers.held(routerId)
    if (router === undefined) return batch.map(() => OFFLINE)
    const fresh = batch.filter(({ id }) => !this.#pending.has(id))
    const answers = batch.map(({ id }) => this.#awaited(id, router))
    if (fresh.length > 0) {
      const asked = fresh.map(({ id, binding, address }) => ({ id, binding, address }))
      router.channel.send({ type: 'validate-terminators', terminators: asked, fixInvalid: fix, asksHosts: true })
    }
    return Promise.all(answers)
  }

  #awaited(id: string, router: ConnectedRouter): Promise<Answer> {
    const known = this.#pending.get(id)
    if (known !== undefined) return known.answer
    let settle: Pending['settle'] = () => undefined
    const answer = new Promise<Answer>((resolve) => {
      settle = resolve
    })
    this.#pending.set(id, { router, settle, answer })
    this.#context.timetable.set('terminator-validation', id, this.#context.clock.now() + ANSWER_MS)
    return answer
  }

  #settle(id: string, answer: Answer): void {
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    this.#context.timetable.set('terminator-validation', id, undefined)
    pending?.settle(answer)
  }

  async #namesOf(batch: readonly StoredTerminator[]): Promise<ReadonlyMap<string, string>> {
    return this.#context.storage.read(async (tx) => {
      const named = await tx.collection(services).find({ where: ids(batch.map(({ serviceId }) => serviceId)) })
      const hosting = await tx.collection(edgeRouters).find({ where: ids(batch.map(({ routerId }) => routerId)) })
      return new Map([...named.items, ...hosting.items].map(({ id, name }) => [id, name]))
    })
  }
}

function isInvalid(answer: Answer | undefined): boolean {
  return answer?.state === 'unknown-terminator'
}

function shown(
  { id, serviceId, routerId, binding, address, hostId, createdAt }: StoredTerminator,
  names: ReadonlyMap<string, string>,
): Omit<TerminatorState, 'state' | 'fixed' | 'detail'> {
  return {
    terminatorId: id,
    serviceId,
    serviceName: names.get(serviceId) ?? 'unable to retrieve',
    routerId,
    routerName: names.get(routerId) ?? 'unable to retrieve',
    binding,
    address,
    hostId,
    createDate: new Date(createdAt).toISOString(),
  }
}
