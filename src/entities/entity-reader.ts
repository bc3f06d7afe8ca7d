import { ControllerError, notFound } from '../base/errors.ts'
import type { Call } from '../context/call.ts'
import type { AccessIndexFeed, EngineContext } from '../context/context.ts'
import type { WireTexts } from '../context/wire-texts.ts'
import { accessRequests } from '../facts/access/access-request.resource.ts'
import type { AccessIndex, EntityKind, OrderedIds } from '../facts/access/index/index.ts'
import { sessions } from '../facts/access/session.resource.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { apiSessions } from '../facts/login/api-session.resource.ts'
import type { DetailOf } from '../facts/resources/wire-forms.ts'
import { edgeRouters } from '../facts/routers/edge-router.resource.ts'
import { type TransitRouters, transitRouters } from '../facts/routers/transit-router.resource.ts'
import { type Services, services } from '../facts/services/service.resource.ts'
import { readId } from '../kernel/declaration/read-body.ts'
import type { RecordOf, Resource } from '../kernel/declaration/resource.ts'
import { both, type Filter, ids } from '../kernel/filter/index.ts'
import { type FindQuery, type Page, type ReadTransaction, StorageUnavailable } from '../ports/record-storage.ts'
import type { BehaviourOf } from '../records/behaviour.ts'
import { collectionOf, findOne } from '../records/read-records.ts'
import { renderDetails } from '../records/render.ts'
import { findAmong, findBySymbols } from './find-by-symbols.ts'
import { resourceCounts } from './related.ts'
import { refuseUnreadable } from './resolve-filter.ts'
import { roleAttributesOf, roleAttributeUses } from './role-attributes.ts'

type EdgeRouter = RecordOf<typeof edgeRouters>

/** The occasion that ends the records of a kind by time. */
const ENDING: Readonly<Record<string, 'overdue' | 'access-request'>> = {
  [accessRequests.name]: 'access-request',
  [apiSessions.name]: 'overdue',
  [sessions.name]: 'overdue',
}

/** Reads entities in their wire form, each answer from one consistent snapshot. */
export class EntityReader {
  readonly #context: EngineContext
  readonly #behaviourOf: BehaviourOf
  /** The texts of wire forms. */
  readonly texts: WireTexts

  constructor(context: EngineContext, behaviourOf: BehaviourOf) {
    this.#context = context
    this.#behaviourOf = behaviourOf
    this.texts = context.texts
  }

  /**
   * One page of a resource's entities that match the query and lie within the scope.
   *
   * @throws {ControllerError} INVALID_FILTER when a condition is on other entities that the caller may not read.
   */
  async list<R extends Resource>(call: Call, resource: R, query: FindQuery, scope?: Scope): Promise<Page<DetailOf<R>>> {
    refuseUnreadable(call, resource, query.where)
    await this.#endOverdue(resource)
    const turn = this.#context.turns.begin()
    const readPage = async (tx: ReadTransaction) => {
      const page = await pageWithin(this.#context, tx, resource, query, scope)
      await turn()
      const items = await this.#details(tx, call, resource, page.items)
      // Writing the JSON of a long page takes as long as all this.
      await turn()
      return { items, totalCount: page.totalCount }
    }
    return this.#context.storage.read(readPage, { mayBeginAgain: true })
  }

  /**
   * One entity.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown id, or an entity outside of the scope.
   */
  async get<R extends Resource>(call: Call, resource: R, id: string, isWithin?: Within<R>): Promise<DetailOf<R>> {
    readId(id)
    await this.#endOverdue(resource)
    const readOne = (tx: ReadTransaction) => this.#oneWithin<R>(tx, call, resource, id, isWithin)
    return this.#context.storage.read(readOne, { mayBeginAgain: true })
  }

  /**
   * The service above a list; undefined for an unknown service where the controller lists nothing below it.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown service, where the controller refuses lists below it.
   */
  async serviceAbove(id: string): Promise<RecordOf<Services> | undefined> {
    readId(id)
    const { storage, settings } = this.#context
    const service = await storage.read((tx) => tx.collection(services).get(id))
    if (service === undefined && !settings.profile.listsBelowUnknownServices) {
      throw notFound(services.definition.singular, id)
    }
    return service
  }

  /**
   * The id of the identity with this id or name.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown id or name.
   */
  async identityIdOf(idOrName: string): Promise<string> {
    readId(idOrName, 'idOrName')
    const identity = await this.#context.storage.read(
      async (tx) =>
        (await tx.collection(identities).get(idOrName)) ?? (await findOne(tx, identities, 'name', idOrName)),
    )
    if (identity !== undefined) return identity.id
    const message = `identity with id or name ${idOrName} not found`
    throw new ControllerError('NOT_FOUND', { code: 'UNHANDLED', message })
  }

  /** A record at hand in its wire form. */
  show<R extends Resource>(call: Call, resource: R, record: RecordOf<R>): Promise<DetailOf<R>> {
    return this.#context.storage.read((tx) => this.#one<R>(tx, call, resource, record), { mayBeginAgain: true })
  }

  /** A session or request that time has ended is not shown as if it were open, even when the process that would have ended it is gone. */
  async #endOverdue({ name }: Resource): Promise<void> {
    const occasion = ENDING[name]
    if (occasion === undefined) return
    try {
      await this.#context.timetable.look(occasion)
    } catch (error) {
      // A store that takes no writes may still be read.
      if (!(error instanceof StorageUnavailable)) throw error
    }
  }

  async #oneWithin<R extends Resource>(
    tx: ReadTransaction,
    call: Call,
    resource: R,
    id: string,
    isWithin: Within<R> | undefined,
  ): Promise<DetailOf<R>> {
    const record = await collectionOf(tx, resource).get(id)
    if (record === undefined || !((await isWithin?.(tx, record)) ?? true)) {
      throw notFound(resource.definition.singular, id)
    }
    const [detail] = await this.#details(tx, call, resource, [record])
    return rendered(detail)
  }

  /**
   * The router of an id as a transit router is shown, whichever kind it is: terminators link to every router in that way.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown id.
   */
  async anyRouter(call: Call, id: string): Promise<DetailOf<TransitRouters>> {
    readId(id)
    const edgeRouter = await this.#context.storage.read((tx) => tx.collection(edgeRouters).get(id))
    if (edgeRouter === undefined) return this.get(call, transitRouters, id)
    return this.show(call, transitRouters, asTransitRouter(edgeRouter))
  }

  /**
   * One page of transit routers, and of edge routers in the same form where the controller lists them among these.
   *
   * @throws {ControllerError} INVALID_FILTER when a condition is on other entities that the caller may not read.
   */
  routers(call: Call, query: FindQuery): Promise<Page<DetailOf<TransitRouters>>> {
    if (!this.#context.settings.profile.listsEdgeRoutersAsRouters) return this.list(call, transitRouters, query)
    refuseUnreadable(call, transitRouters, query.where)
    const readPage = async (tx: ReadTransaction) => {
      const { items, totalCount } = await findAmong(this.#context, tx, [transitRouters, edgeRouters], query)
      const records = items.map(({ resource, record }) =>
        resource === edgeRouters ? asTransitRouter(record as EdgeRouter) : record,
      )
      return { items: await this.#details(tx, call, transitRouters, records), totalCount }
    }
    return this.#context.storage.read(readPage, { mayBeginAgain: true })
  }

  /** How many entities of each kind there are. */
  counts() {
    return this.#context.storage.read(resourceCounts)
  }

  /** A page of the role attributes that entities of a kind have, ascending. */
  roleAttributes(kind: EntityKind, query: FindQuery) {
    return this.#context.storage.read((tx) => roleAttributesOf(this.#context, tx, kind, query))
  }

  /** A page of the role attributes that entities of a kind have or policies select among them, with those entities. */
  roleAttributeUses(kind: EntityKind, query: FindQuery, withIds: boolean) {
    return this.#context.storage.read((tx) => roleAttributeUses(this.#context, tx, kind, query, withIds))
  }

  async #one<R extends Resource>(
    tx: ReadTransaction,
    call: Call,
    resource: R,
    record: RecordOf<R>,
  ): Promise<DetailOf<R>> {
    const [detail] = await this.#details(tx, call, resource, [record])
    return rendered(detail)
  }

  async #details<R extends Resource>(
    tx: ReadTransaction,
    call: Call,
    resource: R,
    records: readonly RecordOf<R>[],
  ): Promise<readonly DetailOf<R>[]> {
    const details = await renderDetails(this.#context, tx, call, resource, records, this.#behaviourOf(resource).members)
    // Rendered by the declaration from which the type follows.
    return details as readonly unknown[] as readonly DetailOf<R>[]
  }
}

function asTransitRouter({ appData, isTunnelerEnabled, roleAttributes, ...router }: EdgeRouter) {
  return router
}

/** Rendering answers one wire form for each record. */
function rendered<D>(detail: D | undefined): D {
  if (detail === undefined) throw new Error('an entity was not rendered')
  return detail
}

/** Reports whether a record may be seen at all. */
export type Within<R extends Resource> = (tx: ReadTransaction, record: RecordOf<R>) => Promise<boolean>

async function pageWithin<R extends Resource>(
  context: EngineContext,
  tx: ReadTransaction,
  resource: R,
  query: FindQuery,
  scope: Scope | undefined,
): Promise<Page<RecordOf<R>>> {
  const isWhole = query.where === undefined && query.orderBy === undefined
  const within = await scope?.(tx, isWhole ? query : {})
  const isByIds = within !== undefined && 'present' in within
  if (isByIds && isWhole) {
    const { items } = await collectionOf(tx, resource).find({ where: ids(within.present) })
    return { items, totalCount: within.count }
  }
  const where = both(isByIds ? ids(within.present) : within, query.where)
  return findBySymbols(context, tx, resource, { ...query, ...(where && { where }) })
}

/** Ascending ids that a snapshot holds, without exception: a page of them is known without looking at the others. */
export interface PresentIds {
  /** The ids of the part in question. */
  readonly present: readonly string[]
  /** How many there are. */
  readonly count: number
}

/** Narrows a list by facts outside of the records, for example the access of the caller. */
export type Scope = (
  tx: ReadTransaction,
  part?: Pick<FindQuery, 'limit' | 'offset'>,
) => Promise<Filter | PresentIds | undefined>

/** The scope of the ids, ascending and of one kind, that the access index answers. */
export function indexedScope(access: AccessIndexFeed, answer: (index: AccessIndex) => OrderedIds): Scope {
  return async (tx, { offset = 0, limit } = {}) => {
    const found = answer(await access.at(tx))
    if (!access.isLevelWith(tx)) return ids(found.slice())
    const { length: count } = found
    return { present: found.slice(offset, offset + (limit ?? count)), count }
  }
}
