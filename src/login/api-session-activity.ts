import { sessions } from '../access/sessions/session.resource.ts'
import { BoundedMap } from '../base/bounded-map.ts'
import { dueAtOf } from '../credentials/login-basis.rules.ts'
import { SYSTEM_CALL } from '../kernel/context/call.ts'
import type { EngineContext } from '../kernel/context/context.ts'
import type { RecordedChange } from '../kernel/context/recorded-changes.ts'
import { apiSessions } from './api-session.resource.ts'

/** Use of an API session is written down at most this often (ms); in between this process alone knows of it. */
const WRITE_INTERVAL_MS = 60_000
/** Use is written down at least this often while a session could end without use: other processes end it by what is stored. */
const WRITES_PER_TIMEOUT = 10
/** How many sessions are remembered at most; a forgotten one falls back to what is written down. */
const MAX_REMEMBERED = 100_000

/** When API sessions were last used: exact within this process, and at most a minute late for others. */
export class SessionActivity {
  readonly #context: Pick<EngineContext, 'settings' | 'writes'>
  readonly #latest = new BoundedMap<string, { at: number; written: number }>(MAX_REMEMBERED)

  constructor(context: Pick<EngineContext, 'settings' | 'writes'>) {
    this.#context = context
  }

  /** The last use (epoch ms) of a stored API session. */
  lastActivityAt(stored: { readonly id: string; readonly lastActivityAt: number }): number {
    const known = this.#latest.get(stored.id)
    if (known === undefined) {
      this.#latest.set(stored.id, { at: stored.lastActivityAt, written: stored.lastActivityAt })
      return stored.lastActivityAt
    }
    known.written = stored.lastActivityAt
    return Math.max(stored.lastActivityAt, known.at)
  }

  /** The API session is being used at `now` (epoch ms). */
  async touch(id: string, now: number): Promise<void> {
    const known = this.#latest.get(id) ?? { at: now, written: now }
    this.#latest.set(id, known)
    known.at = Math.max(known.at, now)
    const { settings, writes } = this.#context
    const interval = Math.min(WRITE_INTERVAL_MS, settings.apiSessionTimeoutMs / WRITES_PER_TIMEOUT)
    if (now - known.written < interval) return
    known.written = now
    await writes.run(SYSTEM_CALL, async (tx) => {
      const stored = await tx.collection(apiSessions).get(id)
      if (stored === undefined) return
      const used = { ...stored, lastActivityAt: now }
      await tx.collection(apiSessions).update({ ...used, dueAt: dueAtOf(used, settings, now) })
    })
  }

  forget(id: string): void {
    this.#latest.delete(id)
  }
}

/** Reports whether a session was used, or is due at another instant, and nothing else about it changed. */
export function isSessionUse({
  operation,
  kind,
  before,
  after,
}: Pick<RecordedChange, 'operation' | 'kind' | 'before' | 'after'>): boolean {
  if (kind !== apiSessions.name && kind !== sessions.name) return false
  if (operation !== 'update' || before === undefined || after === undefined) return false
  const fields = Object.keys(after).filter((field) => Reflect.get(before, field) !== Reflect.get(after, field))
  return fields.every((field) => field === 'lastActivityAt' || field === 'dueAt')
}
