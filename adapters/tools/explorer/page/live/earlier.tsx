import { useState } from 'preact/hooks'
import type { Apis } from '../api/apis.ts'
import { AuditList } from '../changes/audit-list.tsx'
import { isOfNothing } from '../events/network-event.ts'
import { Loaded } from '../parts/loaded.tsx'
import { useAnswer } from '../parts/use-answer.ts'

const PAGE_SIZE = 20

/** Events that the controller no longer remembers, from the audit trail, which survives a restart. */
export function Earlier({ apis, before }: { apis: Apis; before: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <section class="card" aria-label="Before that">
      <h2>Before that</h2>
      {isOpen ? (
        <EarlierRecords apis={apis} before={before} />
      ) : (
        <button type="button" onClick={() => setOpen(true)}>
          Read the audit trail
        </button>
      )}
    </section>
  )
}

function EarlierRecords({ apis, before }: { apis: Apis; before: string }) {
  const [place, setPlace] = useState<string>()
  const answer = useAnswer(
    async (signal) => {
      const query = {
        filter: `at < datetime(${before})`,
        limit: PAGE_SIZE,
        ...(place !== undefined && { before: place }),
      }
      return (await apis.portcullis.call('GET /audit', { query, signal })).data
    },
    [apis, before, place],
    isOfNothing,
  )
  return (
    <Loaded answer={answer} isEmpty={({ entries }) => entries.length === 0} empty="Nothing is kept of before.">
      {({ entries, next }) => (
        <>
          <AuditList apis={apis} entries={entries} onUndone={answer.reload} />
          {next !== null && (
            <button type="button" onClick={() => setPlace(next)}>
              Earlier ones
            </button>
          )}
        </>
      )}
    </Loaded>
  )
}
