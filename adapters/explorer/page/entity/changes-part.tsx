import type { Apis } from '../api/apis.ts'
import { AuditList } from '../changes/audit-list.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { Part } from './entity-page.tsx'

/** Who changed an entity, when, and from what to what: the latest first. */
export function ChangesPart({ apis, id }: { apis: Apis; id: string }) {
  const answer = useAnswer(
    async (signal) => (await apis.portcullis.call('GET /audit', { query: { entity: id, limit: 20 }, signal })).data,
    [apis, id],
  )
  return (
    <Part title="Changes">
      <Loaded answer={answer} isEmpty={({ entries }) => entries.length === 0} empty="None that are remembered.">
        {({ entries }) => <AuditList apis={apis} entries={entries} />}
      </Loaded>
    </Part>
  )
}
