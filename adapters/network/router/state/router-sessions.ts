import { BoundedMap } from '../../../../src/base/collections.ts'
import type { ToRouter } from '../../../../src/control-channel.ts'

export type Announced = Extract<ToRouter, { type: 'api-sessions-added' }>

/** A session that the controller announced: clients present its token to routers. */
export type AnnouncedSession = Announced['sessions'][number]

/** Full reports that are arriving. Each controller sends one at a time; a report without its last part is dropped in time. */
const MOST_REPORTS = 64

/** A full report, as far as it has arrived. */
interface Report {
  /** Tokens that it holds, or that were announced while it arrived: it may be older than these. */
  readonly tokens: Set<string>
  /** The greatest id in it: later sessions began after it was made, as ids begin with their time. */
  lastId: string
}

/** The sessions that controllers announced to a router, by their tokens. */
export class RouterSessions {
  readonly #byToken = new Map<string, AnnouncedSession>()
  readonly #tokens = new Map<string, string>()
  /** Full reports that are not complete yet, by their controllers and ids: several controllers may send them at once. */
  readonly #reports = new BoundedMap<string, Report>(MOST_REPORTS)

  get(token: string): AnnouncedSession | undefined {
    return this.#byToken.get(token)
  }

  /** All sessions that are announced. */
  all(): Iterable<AnnouncedSession> {
    return this.#byToken.values()
  }

  /** Adds sessions of a controller. The last part of a full report ends the sessions that it leaves out: answers their ids. */
  take({ sessions, full }: Announced, controllerId: string): ReadonlySet<string> {
    const ended = new Set<string>()
    if (full === undefined) {
      this.update(sessions)
      return ended
    }
    const key = `${controllerId} ${full.syncId}`
    const report = this.#reports.get(key) ?? { tokens: new Set(), lastId: '' }
    this.#reports.set(key, report)
    for (const session of sessions) {
      this.#keep(session)
      report.tokens.add(session.token)
      if (session.id > report.lastId) report.lastId = session.id
    }
    if (!full.isLast) return ended
    this.#reports.delete(key)
    for (const [token, { id }] of [...this.#byToken]) {
      const isLater = report.lastId !== '' && id > report.lastId
      if (isLater || report.tokens.has(token)) continue
      this.#forget(token)
      ended.add(id)
    }
    return ended
  }

  update(sessions: readonly AnnouncedSession[]): void {
    for (const session of sessions) {
      this.#keep(session)
      for (const [, { tokens }] of this.#reports) tokens.add(session.token)
    }
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
