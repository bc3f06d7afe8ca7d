import { listed } from '../../../../../src/base/text.ts'
import type { Apis } from '../api/apis.ts'
import { isLoss, isOfNothing, readTimeline } from '../events/network-event.ts'
import { useAnswer } from '../parts/use-answer.ts'
import { countedName, numberText } from '../parts/words.ts'
import { useApis } from '../session/session.ts'
import { isBeside } from './change-groups.ts'
import type { AuditEntry } from './consequences.tsx'

/** Records that a summary counts at most: the API answers no more at once. */
export const MOST_COUNTED = 500
const MOST_KINDS = 4

interface Props {
  readonly entries: readonly AuditEntry[]
  /** The begin of the time that is shown, RFC 3339. */
  readonly since: string
}

/** The changes of a time in a sentence: people, the entities that they changed by kind, and the identities that lost access. */
export function ChangeSummary({ entries, since }: Props) {
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
