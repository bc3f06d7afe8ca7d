import { useEffect, useRef, useState } from 'preact/hooks'
import type { Apis } from '../api/apis.ts'
import type { AuditEntry } from '../changes/consequences.tsx'
import type { NetworkEvent } from '../events/network-event.ts'

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
