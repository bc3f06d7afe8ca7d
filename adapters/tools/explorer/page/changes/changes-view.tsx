import { useState } from 'preact/hooks'
import type { Apis } from '../api/apis.ts'
import { isChange, isOfNetwork } from '../events/network-event.ts'
import { place, stay } from '../navigation/place.ts'
import { Loaded } from '../parts/loaded.tsx'
import { zoneText } from '../parts/time-text.ts'
import { useAnswer } from '../parts/use-answer.ts'
import { AuditList } from './audit-list.tsx'

const SPANS = [
  { hours: 1, label: 'the last hour' },
  { hours: 24, label: 'the last day' },
  { hours: 168, label: 'the last week' },
] as const

/** The kinds of entities whose changes decide access. */
const ACCESS_KINDS = ['identities', 'services', 'service-policies', 'posture-checks']

/** Kinds whose entities the controller writes and deletes by itself, as identities use the network. */
const BOOKKEEPING = ['api-sessions', 'sessions', 'terminators', 'posture-data', 'revocations']

function listOf(kinds: readonly string[]): string {
  return `[${kinds.map((kind) => JSON.stringify(kind)).join(', ')}]`
}

/** The changes of the audit trail, each with its actor, old values and new values. */
export function ChangesView({ apis }: { apis: Apis }) {
  const { about } = place.value
  const hours = SPANS.find((span) => String(span.hours) === about.get('hours'))?.hours ?? 1
  const isAccess = about.get('of') === 'access'
  const isWhole = about.get('of') === 'all'
  const [before, setBefore] = useState<string>()
  const answer = useAnswer(
    async (signal) => {
      const since = new Date(Date.now() - hours * 3_600_000).toISOString()
      const others = isWhole ? '' : ` and not (kind in ${listOf(BOOKKEEPING)})`
      const kinds = isAccess ? ` and kind in ${listOf(ACCESS_KINDS)}` : others
      const filter = `at >= datetime(${since}) and type in ["entity.created", "entity.updated", "entity.deleted"]${kinds}`
      const query = { filter, limit: 100, ...(before !== undefined && { before }) }
      return (await apis.portcullis.call('GET /audit', { query, signal })).data
    },
    [apis, hours, isAccess, isWhole, before],
    isWhole ? isChange : isOfNetwork,
  )
  const show = (changed: { hours?: string; of?: string | undefined }) =>
    stay('changes', { hours: String(hours), of: about.get('of') ?? undefined, ...changed })
  return (
    <section class="reading">
      <div class="bar">
        <h1>Changes</h1>
        <label class="inline">
          of
          <select value={String(hours)} onChange={({ currentTarget }) => show({ hours: currentTarget.value })}>
            {SPANS.map((span) => (
              <option key={span.hours} value={String(span.hours)}>
                {span.label}
              </option>
            ))}
          </select>
        </label>
        <label class="toggle">
          <input
            type="checkbox"
            checked={isAccess}
            onChange={({ currentTarget }) => show({ of: currentTarget.checked ? 'access' : undefined })}
          />
          only of what decides access
        </label>
        <label class="toggle">
          <input
            type="checkbox"
            checked={isWhole}
            onChange={({ currentTarget }) => show({ of: currentTarget.checked ? 'all' : undefined })}
          />
          with sessions and terminators
        </label>
        <span class="muted">Times are {zoneText()}.</span>
      </div>
      <Loaded answer={answer} isEmpty={({ entries }) => entries.length === 0} empty="Nothing was changed in that time.">
        {({ entries, next }) => (
          <>
            <AuditList apis={apis} entries={entries} onUndone={answer.reload} />
            {next !== null && (
              <button type="button" onClick={() => setBefore(next)}>
                Earlier ones
              </button>
            )}
          </>
        )}
      </Loaded>
    </section>
  )
}
