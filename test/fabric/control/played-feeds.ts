import { routerSide } from 'portcullis/fabric'
import { bodyOf } from 'portcullis/testing'

const { CONTENT_TYPE, HEADER } = routerSide

type Event = ReturnType<typeof routerSide.StateEvents.decode>['events'][number]
type ApiSession = ReturnType<typeof routerSide.ApiSessions.decode>['apiSessions'][number]

/** The state of its model that a router saved. */
export interface SavedModel {
  readonly index: number
  readonly timelineId: string
  readonly entities: ReadonlyMap<string, string>
  readonly relations: ReadonlyMap<string, ReadonlySet<string>>
}

/**
 * The model that a router keeps of the feeds of controllers, by the rules of routers of the line 2.1: it takes the model from the
 * one subscription that it has, drops what is not newer, subscribes anew where a change set does not follow what it has, and
 * forgets API sessions that a full list does not name unless they are newer than its newest.
 */
export class PlayedFeeds {
  index = 0
  timelineId = ''
  subscriptionId = ''
  /** It found out that it missed something. */
  hasGap = false
  /** It was given a model that is older than the one that it had. */
  readonly setBack: string[] = []
  entities = new Map<string, string>()
  relations = new Map<string, Set<string>>()
  /** API sessions by token. */
  readonly apiSessions = new Map<string, ApiSession>()
  #sync: { readonly id: string; readonly sessions: ApiSession[] } | undefined

  save(): SavedModel {
    const { index, timelineId, entities } = this
    const relations = new Map([...this.relations].map(([key, ids]) => [key, new Set(ids)]))
    return { index, timelineId, entities: new Map(entities), relations }
  }

  /** The router starts again with what it had saved once. */
  restart({ index, timelineId, entities, relations }: SavedModel): void {
    this.index = index
    this.timelineId = timelineId
    this.entities = new Map(entities)
    this.relations = new Map([...relations].map(([key, ids]) => [key, new Set(ids)]))
    this.subscriptionId = ''
    this.hasGap = false
    this.apiSessions.clear()
  }

  /** Something arrives on the channel that the router is subscribed at. */
  take(frame: routerSide.Frame): void {
    switch (frame.contentType) {
      case CONTENT_TYPE.modelState:
        if (this.#isCurrent(frame)) this.#replace(frame)
        return
      case CONTENT_TYPE.modelChanges:
        if (this.#isCurrent(frame)) this.#change(frame)
        return
      case CONTENT_TYPE.apiSessionsAdded:
        this.#add(frame)
        return
      case CONTENT_TYPE.apiSessionsUpdated:
        this.#know(routerSide.ApiSessions.decode(bodyOf(frame)).apiSessions)
        return
      case CONTENT_TYPE.apiSessionsRemoved:
        for (const token of routerSide.TokensAndIds.decode(bodyOf(frame)).tokens) this.apiSessions.delete(token)
        return
    }
  }

  #isCurrent({ headers }: routerSide.Frame): boolean {
    return routerSide.readText(headers, HEADER.subscriptionId) === this.subscriptionId
  }

  #replace(frame: routerSide.Frame): void {
    const { endIndex, timelineId } = routerSide.StateFacts.decode(bodyOf(frame))
    if (endIndex < this.index) this.setBack.push(`from ${this.index} to ${endIndex}`)
    this.entities.clear()
    this.relations.clear()
    for (const event of routerSide.StateEvents.decode(bodyOf(frame)).events) this.#apply(event)
    this.index = endIndex
    this.timelineId = timelineId
    this.hasGap = false
  }

  #change(frame: routerSide.Frame): void {
    const { index, previousIndex } = routerSide.ChangeSetFacts.decode(bodyOf(frame))
    if (this.index > 0 && index <= this.index) return
    if (previousIndex > 0 && this.index > 0 && previousIndex !== this.index) {
      this.hasGap = true
      return
    }
    this.index = index
    for (const event of routerSide.ChangeSetEvents.decode(bodyOf(frame)).changes) this.#apply(event)
  }

  #apply({ action, servicePolicyChange: change, ...event }: Event): void {
    if (change !== undefined) {
      const key = `${change.policyId} ${change.relatedEntityType}`
      const known = this.relations.get(key) ?? new Set()
      this.relations.set(key, known)
      for (const id of change.relatedEntityIds) change.add ? known.add(id) : known.delete(id)
      return
    }
    const [type, entity] = Object.entries(event).find(([, value]) => value !== undefined) ?? ['', undefined]
    const key = `${type} ${String(Reflect.get(Object(entity), type === 'publicKey' ? 'kid' : 'id') ?? '')}`
    const plain = (_key: string, value: unknown) => (value instanceof Map ? [...value] : value)
    if (action === 'delete') this.entities.delete(key)
    else this.entities.set(key, JSON.stringify(entity, plain))
    if (action !== 'delete') return
    const id = key.slice(type.length + 1)
    // Of what is gone routers forget how it was related.
    for (const [relation, ids] of this.relations)
      relation.startsWith(id) ? this.relations.delete(relation) : ids.delete(id)
  }

  #know(sessions: readonly ApiSession[]): void {
    for (const session of sessions) this.apiSessions.set(session.token, session)
  }

  #add(frame: routerSide.Frame): void {
    const { apiSessions, isFullState } = routerSide.ApiSessionsAdded.decode(bodyOf(frame))
    this.#know(apiSessions)
    if (!isFullState) {
      this.#sync?.sessions.push(...apiSessions)
      return
    }
    const { id, isLast } = JSON.parse(routerSide.readText(frame.headers, HEADER.syncState) ?? '')
    if (this.#sync?.id !== id) this.#sync = { id, sessions: [] }
    this.#sync?.sessions.push(...apiSessions)
    if (!isLast) return
    const listed = this.#sync?.sessions ?? []
    this.#sync = undefined
    const newest = listed.reduce((latest, session) => (session.id > latest ? session.id : latest), '')
    const tokens = new Set(listed.map(({ token }) => token))
    for (const [token, session] of this.apiSessions) {
      if (!tokens.has(token) && session.id <= newest) this.apiSessions.delete(token)
    }
  }
}
