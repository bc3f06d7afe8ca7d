import { useState } from 'preact/hooks'
import { Trail } from '../changes/trail.tsx'
import { isOfNothing } from '../events/network-event.ts'
import { Card } from '../parts/card.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { useApis } from '../session/use-apis.ts'

const PAGE_SIZE = 20

/** Events that the controller no longer remembers, from the audit trail, which survives a restart. */
export function Earlier({ before }: { before: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <Card title="Before that">
      {isOpen ? (
        <EarlierRecords before={before} />
      ) : (
        <button type="button" onClick={() => setOpen(true)}>
          Read the audit trail
        </button>
      )}
    </Card>
  )
}

function EarlierRecords({ before }: { before: string }) {
  const apis = useApis()
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
  return <Trail answer={answer} empty="Nothing is kept of before." onEarlier={setPlace} />
}
