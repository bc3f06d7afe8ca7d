import type { ToRouter } from '../../../../src/control-channel.ts'

export type Announced = Extract<ToRouter, { type: 'api-sessions-added' }>

/** A session that the controller announced: clients present its token to routers. */
export type AnnouncedSession = Announced['sessions'][number]

/** The sessions that controllers announced to a router, by their tokens. */
export class RouterSessions {
  readonly #byToken = new Map<string, AnnouncedSession>()
  readonly #tokens = new Map<string, string>()
  /** The tokens of a full report that is not complete yet. */
  #report: { readonly syncId: string; readonly tokens: Set<string> } | undefined

  get(token: string): AnnouncedSession | undefined {
    return this.#byToken.get(token)
  }

  /** All sessions that are announced. */
  all(): Iterable<AnnouncedSession> {
    return this.#byToken.values()
  }

  /** Adds sessions. The last part of a full report ends the sessions that it leaves out: answers their ids. */
  take({ sessions, full }: Announced): ReadonlySet<string> {
    for (const session of sessions) this.#keep(session)
    const ended = new Set<string>()
    if (full === undefined) return ended
    if (this.#report?.syncId !== full.syncId) this.#report = { syncId: full.syncId, tokens: new Set() }
    const { tokens } = this.#report
    for (const { token } of sessions) tokens.add(token)
    if (!full.isLast) return ended
    this.#report = undefined
    for (const [token, { id }] of [...this.#byToken]) {
      if (tokens.has(token)) continue
      this.#forget(token)
      ended.add(id)
    }
    return ended
  }

  update(sessions: readonly AnnouncedSession[]): void {
    for (const session of sessions) this.#keep(session)
  }

  /** Removes sessions by token or id; answers their ids, unknown ids included. */
  remove(tokens: readonly string[], ids: readonly string[]): ReadonlySet<string> {
    const ended = new Set(ids)
    for (const token of tokens) {
      const session = this.#byToken.get(token)
      if (session !== undefined) ended.add(session.id)
      this.#forget(token)
    }
    for (const id of ids) this.#forget(this.#tokens.get(id) ?? '')
    return ended
  }

  #keep(session: AnnouncedSession): void {
    // The mark of a full report names no identity.
    if (session.identityId === '') return
    this.#byToken.set(session.token, session)
    this.#tokens.set(session.id, session.token)
  }

  #forget(token: string): void {
    const session = this.#byToken.get(token)
    if (session === undefined) return
    this.#byToken.delete(token)
    if (this.#tokens.get(session.id) === token) this.#tokens.delete(session.id)
  }
}
