import { routerSide } from 'portcullis/fabric'
import type { Right } from './known-facts.ts'

type Message = NonNullable<ReturnType<typeof routerSide.readToRouter>>
type Of<Type extends Message['type']> = Extract<Message, { readonly type: Type }>
type Event = ReturnType<typeof routerSide.StateEvents.decode>['events'][number]

/**
 * The data model and the API sessions that a played router learned, kept in the plainest way. A whole list of sessions ends those that it
 * leaves out, unless they are newer than the newest of it: deployed routers take it so.
 */
export class RouterKnowledge {
  /** The id of each session by its token. */
  readonly sessions = new Map<string, string>()
  /** Words of what may never happen. */
  wrong: string | undefined
  #index = 0
  #timelineId = ''
  #list: { readonly syncId: string; readonly tokens: Set<string>; newest: string } | undefined
  readonly #disabled = new Map<string, boolean>()
  readonly #policies = new Map<string, string>()
  /** The members of each side of a policy, by the policy and the side. */
  readonly #members = new Map<string, Set<string>>()

  /** The state that it names when it subscribes. */
  get position() {
    return { currentIndex: this.#index, timelineId: this.#timelineId }
  }

  /** Takes a message; answers whether it has to subscribe again, since a step before is missing. */
  take(message: Message): boolean {
    switch (message.type) {
      case 'model-state':
        this.#takeModel(message)
        return false
      case 'model-changes':
        return this.#takeChanges(message)
      case 'api-sessions-added':
        this.#addSessions(message)
        return false
      case 'api-sessions-updated':
        for (const { id, token } of message.sessions) this.sessions.set(token, id)
        return false
      case 'api-sessions-removed':
        for (const token of message.tokens) this.sessions.delete(token)
        return false
      default:
        return false
    }
  }

  /** Whether the model lets an identity dial or host a service. */
  allows(identity: string, right: Right, service: string): boolean {
    const isMember = (policy: string, side: string, id: string) =>
      this.#members.get(`${policy} ${side}`)?.has(id) === true
    return (
      this.#disabled.get(identity) === false &&
      [...this.#policies].some(
        ([id, type]) => type === right && isMember(id, 'identities', identity) && isMember(id, 'services', service),
      )
    )
  }

  #takeModel({ index, timelineId, events }: Of<'model-state'>): void {
    // The index is the revision of the store: a router that comes from another process has what that one knew.
    if (index < this.#index) this.wrong ??= `gets the model of ${index}, and has that of ${this.#index}`
    this.#disabled.clear()
    this.#policies.clear()
    this.#members.clear()
    for (const part of events) for (const event of routerSide.StateEvents.decode(part).events) this.#apply(event)
    this.#index = index
    this.#timelineId = timelineId
  }

  #takeChanges({ index, previousIndex, events }: Of<'model-changes'>): boolean {
    if (index <= this.#index) return false
    if (previousIndex > this.#index) return true
    for (const event of routerSide.ChangeSetEvents.decode(events).changes) this.#apply(event)
    this.#index = index
    return false
  }

  #apply({ action, identity, service, servicePolicy, servicePolicyChange: change }: Event): void {
    const isGone = action === 'delete'
    if (change !== undefined) {
      const key = `${change.policyId} ${change.relatedEntityType}`
      const members = this.#members.get(key) ?? new Set()
      this.#members.set(key, members)
      for (const id of change.relatedEntityIds) {
        if (change.add) members.add(id)
        else members.delete(id)
      }
    } else if (servicePolicy !== undefined) {
      if (isGone) this.#policies.delete(servicePolicy.id)
      else this.#policies.set(servicePolicy.id, servicePolicy.policyType)
      if (isGone) for (const side of ['identities', 'services']) this.#members.delete(`${servicePolicy.id} ${side}`)
    } else if (identity !== undefined) {
      if (isGone) this.#disabled.delete(identity.id)
      else this.#disabled.set(identity.id, identity.disabled)
    }
    const gone = isGone ? (identity ?? service)?.id : undefined
    if (gone !== undefined) for (const members of this.#members.values()) members.delete(gone)
  }

  #addSessions({ sessions, full }: Of<'api-sessions-added'>): void {
    // The last entry of a whole list stands for its instant, and for no session.
    for (const { id, token, identityId } of sessions) if (identityId !== '') this.sessions.set(token, id)
    if (full === undefined) return
    if (this.#list?.syncId !== full.syncId) this.#list = { syncId: full.syncId, tokens: new Set(), newest: '' }
    const list = this.#list
    for (const { id, token } of sessions) {
      list.tokens.add(token)
      if (id > list.newest) list.newest = id
    }
    if (!full.isLast) return
    for (const [token, id] of [...this.sessions])
      if (!list.tokens.has(token) && id <= list.newest) this.sessions.delete(token)
    this.#list = undefined
  }
}
