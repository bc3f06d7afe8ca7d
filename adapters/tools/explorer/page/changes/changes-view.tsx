import { useEffect, useState } from 'preact/hooks'
import { isChange, isOfNetwork } from '../events/network-event.ts'
import { aboutNow, hrefOf, place, stay } from '../navigation/place.ts'
import { Choice, Toggle } from '../parts/fields.tsx'
import { Finder } from '../parts/finder.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { COLLECTIONS, pluralName, zoneText } from '../parts/words.ts'
import { useApis } from '../session/session.ts'
import { ChangeSummary, MOST_COUNTED } from './change-summary.tsx'
import { Trail } from './trail.tsx'

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
export function ChangesView() {
  const apis = useApis()
  const { about } = place.value
  const hours = SPANS.find((span) => String(span.hours) === about.get('hours'))?.hours ?? 1
  const isAccess = about.get('of') === 'access'
  const isWhole = about.get('of') === 'all'
  const kind = COLLECTIONS.find((one) => one === about.get('kind'))
  const [actor, entity] = [about.get('actor') ?? undefined, about.get('entity') ?? undefined]
  const [before, setBefore] = useState<string>()
  const asked = JSON.stringify([hours, isAccess, isWhole, kind, actor, entity])
  useEffect(() => setBefore(undefined), [asked])
  const answer = useAnswer(
    async (signal) => {
      const since = new Date(Date.now() - hours * 3_600_000).toISOString()
      const others = isWhole ? '' : ` and not (kind in ${listOf(BOOKKEEPING)})`
      const wide = isAccess ? ` and kind in ${listOf(ACCESS_KINDS)}` : others
      const kinds = kind === undefined ? wide : ` and kind = ${JSON.stringify(kind)}`
      const filter = `at >= datetime(${since}) and type in ["entity.created", "entity.updated", "entity.deleted"]${kinds}`
      const query = { filter, ...(actor && { actor }), ...(entity && { entity }), ...(before && { before }) }
      const { data } = await apis.portcullis.call('GET /audit', { query: { ...query, limit: MOST_COUNTED }, signal })
      return { ...data, since }
    },
    [apis, asked, before],
    isWhole ? isChange : isOfNetwork,
  )
  const shown = answer.data ?? answer.earlier ?? { entries: [], since: '' }
  const show = (changed: Readonly<Record<string, string | undefined>>) =>
    stay('changes', { ...aboutNow('of', 'kind', 'actor', 'by', 'entity', 'name'), hours: String(hours), ...changed })
  return (
    <section class="reading">
      <div class="bar">
        <h1>Changes</h1>
        <Choice
          isInline
          label="of"
          value={String(hours)}
          of={SPANS.map((span) => [String(span.hours), span.label])}
          onChange={(value) => show({ hours: value })}
        />
        <Toggle
          label="only of what decides access"
          isOn={isAccess}
          onChange={(isOn) => show({ of: isOn ? 'access' : undefined })}
        />
        <Toggle
          label="with sessions and terminators"
          isOn={isWhole}
          onChange={(isOn) => show({ of: isOn ? 'all' : undefined })}
        />
        <span class="muted">Times are {zoneText()}.</span>
      </div>
      <div class="row narrowing">
        <Finder
          label="Changed by"
          placeholder="Anybody"
          kinds={['identities']}
          text={actor && (about.get('by') ?? actor)}
          onPick={({ id, name }) => show({ actor: id, by: name })}
        />
        <Choice
          label="Kind"
          value={kind ?? ''}
          of={[['', 'Any kind'], ...COLLECTIONS.map((one) => [one, pluralName(one, 2)] as const)]}
          onChange={(value) => show({ kind: value || undefined })}
        />
        <Finder
          label="Entity"
          placeholder="Anything"
          kinds={[]}
          text={entity && (about.get('name') ?? entity)}
          onPick={({ id, name }) => show({ entity: id, name })}
        />
        {(actor || kind || entity) && <a href={hrefOf('changes', { hours: String(hours) })}>Everything</a>}
      </div>
      {shown.entries.length > 0 && <ChangeSummary {...shown} />}
      <Trail answer={answer} empty="Nothing was changed in that time." onEarlier={setBefore} />
    </section>
  )
}
