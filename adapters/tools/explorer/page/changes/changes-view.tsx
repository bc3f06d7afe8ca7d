import { useEffect, useState } from 'preact/hooks'
import { listed } from '../../../../../src/base/text.ts'
import { HOUR_MS } from '../../../../../src/base/time.ts'
import type { Apis } from '../api/apis.ts'
import { isChange, isLoss, isOfNetwork, isOfNothing, readTimeline } from '../events/network-event.ts'
import { aboutNow, hrefOf, place, stay } from '../navigation/place.ts'
import { Choice, Toggle } from '../parts/fields.tsx'
import { Finder } from '../parts/finder.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { COLLECTIONS, countedName, numberText, pluralName, zoneText } from '../parts/words.ts'
import { useApis } from '../session/session.ts'
import { BOOKKEEPING, isBeside } from './change-groups.ts'
import type { AuditEntry } from './consequences.tsx'
import { Trail } from './trail.tsx'

/** The times that are shown, by their hours. */
const SPANS = { 1: 'the last hour', 24: 'the last day', 168: 'the last week' } as const

/** The kinds of entities whose changes decide access. */
const ACCESS_KINDS = ['identities', 'services', 'service-policies', 'posture-checks']

/** The changes of the audit trail, each with its actor, old values and new values. */
export function ChangesView() {
  const apis = useApis()
  const { about } = place.value
  const hours = Number(Object.keys(SPANS).find((one) => one === about.get('hours')) ?? 1)
  const isAccess = about.get('of') === 'access'
  const isWhole = about.get('of') === 'all'
  const kind = COLLECTIONS.find((one) => one === about.get('kind'))
  const [actor, entity] = [about.get('actor') ?? undefined, about.get('entity') ?? undefined]
  const [before, setBefore] = useState<string>()
  const asked = JSON.stringify([hours, isAccess, isWhole, kind, actor, entity])
  useEffect(() => setBefore(undefined), [asked])
  const answer = useAnswer(
    async (signal) => {
      const since = new Date(Date.now() - hours * HOUR_MS).toISOString()
      const others = isWhole ? '' : ` and not (kind in ${JSON.stringify(BOOKKEEPING)})`
      const wide = isAccess ? ` and kind in ${JSON.stringify(ACCESS_KINDS)}` : others
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
        <Choice isInline label="of" value={String(hours)} of={SPANS} onChange={(value) => show({ hours: value })} />
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

/** Records that a summary counts at most: the API answers no more at once. */
const MOST_COUNTED = 500
const MOST_KINDS = 4

interface Props {
  readonly entries: readonly AuditEntry[]
  /** The begin of the time that is shown, RFC 3339. */
  readonly since: string
}

/** The changes of a time in a sentence: people, the entities that they changed by kind, and the identities that lost access. */
function ChangeSummary({ entries, since }: Props) {
  const apis = useApis()
  const lost = useAnswer((signal) => readLosers(apis, since, signal), [apis, entries.length], isOfNothing).data ?? 0
  const text = summaryText(entries)
  if (text === '') return null
  return (
    <p class="summary">
      {entries.length === MOST_COUNTED && `Of the last ${numberText(MOST_COUNTED)} changes: `}
      {text}
      {lost > 0 && `; ${countedName('identities', lost)} lost access to something`}.
    </p>
  )
}

/** `3 people changed 14 service policies, created 2 identities and 1 service`; of bookkeeping that came with it nothing. */
function summaryText(entries: readonly AuditEntry[]): string {
  const made = entries.filter((entry) => entry.actor !== null && entry.type in DEEDS && !isBeside(entry))
  const people = new Set(made.map(({ actor }) => actor?.id)).size
  if (people === 0) return ''
  const deeds = [...Map.groupBy(made, ({ type, entity }) => `${DEEDS[type] ?? ''} ${entity?.kind}`)]
    .map(([deed, of]) => ({ deed, count: new Set(of.map(({ entity }) => entity?.id)).size }))
    .sort((a, b) => b.count - a.count)
  const verbs = Map.groupBy(deeds.slice(0, MOST_KINDS), ({ deed }) => deed.split(' ')[0] ?? '')
  const words = [...verbs].map(([verb, of]) => {
    const kinds = of.map(({ deed, count }) => countedName(deed.split(' ')[1] ?? '', count))
    return `${verb} ${deeds.length > MOST_KINDS ? kinds.join(', ') : listed(kinds)}`
  })
  const rest = deeds.length > MOST_KINDS ? ' and more' : ''
  return `${numberText(people)} ${people === 1 ? 'person' : 'people'} ${words.join(', ')}${rest}`
}

const DEEDS: Readonly<Record<string, string>> = {
  'entity.created': 'created',
  'entity.updated': 'changed',
  'entity.deleted': 'deleted',
}

/** How many identities lost access to a service, by the events that the controller remembers. */
async function readLosers(apis: Apis, since: string, signal: AbortSignal): Promise<number> {
  const { events } = await readTimeline(apis, signal)
  const losses = events.filter((event) => event.type === 'access.changed' && isLoss(event) && event.at >= since)
  return new Set(losses.map(({ identity }) => identity?.id)).size
}
