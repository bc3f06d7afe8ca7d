import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../../../../../src/client/index.ts'
import type { Apis } from '../api/apis.ts'
import { problemText } from '../api/problem-text.ts'
import type { AuditEntry } from '../changes/consequences.tsx'
import { FIRST_WAIT_MS, LONGEST_WAIT_MS, pause, type StreamState } from '../events/event-stream.ts'
import { type NetworkEvent, readTimeline } from '../events/network-event.ts'
import { liveState, onNews } from '../events/network-news.ts'

/** How many events a page keeps. */
const MOST_KEPT = 3000

/** Milliseconds between two drawings of new events: a burst of events is one drawing. */
const SHOWN_EVERY_MS = 200

export interface LiveEvents extends StreamState {
  /** Oldest first. */
  readonly events: readonly NetworkEvent[]
  /** When something was heard last, RFC 3339; undefined before the first time. */
  readonly heardAt: string | undefined
}

/** Reads recent events, and adds the events of the page's stream from then on. */
export function useEvents(apis: Apis): LiveEvents {
  const [events, setEvents] = useState<readonly NetworkEvent[]>([])
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    const asked = new AbortController()
    const came: NetworkEvent[] = []
    let known: ReadonlySet<string> | undefined
    const stop = onNews((news) => news !== 'again' && came.push(news === 'cut' ? missingEvents() : news))
    const show = () => {
      const before = known
      if (before === undefined || came.length === 0) return
      const fresh = came.splice(0).filter(({ id }) => !before.has(id))
      setEvents((shown) => [...shown, ...fresh].slice(-MOST_KEPT))
    }
    const timer = setInterval(show, SHOWN_EVERY_MS)
    readPatiently(apis, setProblem, asked.signal).then(
      (recent) => {
        known = new Set(recent.map(({ id }) => id))
        setProblem(undefined)
        setEvents(recent)
      },
      // A rejection here means that the user left the view.
      () => undefined,
    )
    return () => {
      stop()
      clearInterval(timer)
      asked.abort()
    }
  }, [apis])
  const state = liveState.value
  return { ...state, problem: problem ?? state.problem, events }
}

/** Reads recent events; while they are not available, it reports the reason and asks again, unless they were refused. */
async function readPatiently(
  apis: Apis,
  onProblem: (problem: string) => void,
  signal: AbortSignal,
): Promise<readonly NetworkEvent[]> {
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(LONGEST_WAIT_MS, wait * 2)) {
    try {
      return (await readTimeline(apis, signal)).events
    } catch (error) {
      signal.throwIfAborted()
      onProblem(problemText(error))
      if (error instanceof ApiError && (error.status === 401 || error.status === 403)) throw error
    }
    await pause(wait, signal)
    signal.throwIfAborted()
  }
}

/** The event that the page shows for events that the controller forgot before it sent them. */
function missingEvents(): NetworkEvent {
  const at = new Date().toISOString()
  return {
    id: `missing ${at}`,
    at,
    type: 'events.missing',
    facts: {},
    text: 'Events before this are missing: more happened than is remembered.',
  }
}

/** The audit trail beside the events. */
export interface Records {
  /** Finds the record of a change. */
  readonly of: (event: NetworkEvent) => AuditEntry | undefined
  /** Finds the name of an entity, also of a deleted one. */
  readonly nameOf: (id: string) => string | undefined
}

const TYPES: Readonly<Record<string, string>> = {
  insert: 'entity.created',
  update: 'entity.updated',
  delete: 'entity.deleted',
}

/** The event of a change follows its record within this time, in milliseconds. */
const NEAR_MS = 2000
/** A burst of changes is one question, in milliseconds. */
const SETTLED_MS = 500
const MOST_READ = 300

/** Reads the old and new values of the changes among some events. */
export function useRecords({ portcullis }: Apis, events: readonly NetworkEvent[]): Records {
  const [records, setRecords] = useState<ReadonlyMap<string, readonly AuditEntry[]>>(new Map())
  const known = useRef<string | undefined>(undefined)
  const last = events.findLast(({ type }) => type === 'entity.changed')?.id
  useEffect(() => {
    if (last === undefined) return
    const asked = new AbortController()
    const { signal } = asked
    const read = async () => {
      const after = known.current
      const query = { limit: MOST_READ, ...(after !== undefined && { after }) }
      const { entries } = (await portcullis.call('GET /audit', { query, signal })).data
      known.current = entries.reduce((latest, { id }) => (latest < id ? id : latest), after ?? '')
      setRecords((before) => {
        const all = new Map(before)
        for (const entry of entries) {
          const key = entry.entity?.id ?? ''
          all.set(key, [...(all.get(key) ?? []), entry])
        }
        return all
      })
    }
    // A session that may not read the trail sees the events without it.
    const timer = setTimeout(() => void read().catch(() => undefined), SETTLED_MS)
    return () => {
      clearTimeout(timer)
      asked.abort()
    }
  }, [portcullis, last])
  const nameOf = (id: string) => records.get(id)?.find(({ entity }) => entity?.name)?.entity?.name ?? undefined
  const of: Records['of'] = ({ type, at, entity, facts }) => {
    if (type !== 'entity.changed' || entity === undefined) return undefined
    const wanted = TYPES[String(facts.operation)]
    // A record is written before the event of its change is sent.
    const age = (entry: AuditEntry) => Date.parse(at) - Date.parse(String(entry.at))
    return records
      .get(entity.id)
      ?.filter((entry) => entry.type === wanted && age(entry) >= 0 && age(entry) < NEAR_MS)
      .toSorted((a, b) => age(a) - age(b) || (a.id < b.id ? 1 : -1))[0]
  }
  return { of, nameOf }
}
