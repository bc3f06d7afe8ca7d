import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { visibleLine } from '../../../../../src/base/text.ts'
import { FieldChanges } from '../changes/field-changes.tsx'
import { isLoss, type NetworkEvent, sayingOf, topicOf } from '../events/network-event.ts'
import { hrefOf } from '../navigation/place.ts'
import { EntityLink, Time } from '../parts/entity-link.tsx'
import { foldRuns, type Run } from '../parts/fold.ts'
import { numberText } from '../parts/words.ts'
import type { Records } from './use-events.ts'

/** As many lines are listed; the timeline above goes back further. */
const MOST_LISTED = 200

/** Events that are alike are one line across this many other lines. */
const MOST_BETWEEN = 5

/** Events, the newest first; repeated events are one line that opens. */
export function EventList({ events, records }: { events: readonly NetworkEvent[]; records: Records }) {
  const shown = foldRuns(events, sayingOf, MOST_BETWEEN).slice(-MOST_LISTED).toReversed()
  return (
    <ol class="events" aria-label="Events, the newest first">
      {shown.map((run) => (
        <EventRun key={run.first.id} run={run} records={records} />
      ))}
    </ol>
  )
}

function EventRun({ run: { last, events }, records }: { run: Run<NetworkEvent>; records: Records }) {
  const [isOpen, setOpen] = useState(false)
  const others = events.length - 1
  return (
    <>
      <Line event={last} records={records}>
        {others > 0 && (
          <button type="button" class="link" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {`and ${numberText(others)} more like it`}
          </button>
        )}
      </Line>
      {isOpen &&
        events
          .slice(0, -1)
          .toReversed()
          .map((event) => <Line key={event.id} event={event} records={records} />)}
    </>
  )
}

interface LineProps {
  readonly event: NetworkEvent
  readonly records: Records
  readonly children?: ComponentChildren
}

function Line({ event, records, children }: LineProps) {
  const record = records.of(event)
  return (
    <li class={`event topic-${topicOf(event)}${isLoss(event) ? ' is-loss' : ''}`}>
      <Time at={event.at} />
      <div class="event-text" title={event.type}>
        <EventSentence event={event} nameOf={records.nameOf} />{' '}
        {event.identity && event.service && (
          <a href={hrefOf('why', { identity: event.identity.id, service: event.service.id })}>why</a>
        )}{' '}
        {children}
        {record && <FieldChanges entry={record} isBrief />}
      </div>
    </li>
  )
}

interface SentenceProps {
  readonly event: NetworkEvent
  /** Finds names that the event does not have. */
  readonly nameOf?: Records['nameOf']
}

/** An event as a sentence in which everything that has a name leads to its page. */
export function EventSentence({ event, nameOf }: SentenceProps) {
  const { text, identity, service, router, author, entity, facts } = event
  const named = [
    { kind: 'identities', of: author },
    { kind: 'identities', of: identity },
    { kind: 'services', of: service },
    { kind: 'edge-routers', of: router },
    { kind: String(facts.kind), of: entity },
  ]
  const parts: (string | { readonly kind: string; readonly id: string; readonly name: string })[] = [text]
  for (const { kind, of } of named) {
    if (!of) continue
    const shown = visibleLine(of.name ?? of.id)
    // The rest of the sentence, so that a name that contains another name stays whole.
    const place = parts.findIndex((part) => typeof part === 'string' && part.includes(shown))
    const part = parts[place]
    if (typeof part !== 'string') continue
    const at = part.lastIndexOf(shown)
    parts.splice(
      place,
      1,
      part.slice(0, at),
      { kind, id: of.id, name: of.name ?? nameOf?.(of.id) ?? of.id },
      part.slice(at + shown.length),
    )
  }
  return (
    <>
      {parts.map((part, place) =>
        typeof part === 'string' ? part : <EntityLink key={`${part.kind} ${place}`} {...part} />,
      )}
    </>
  )
}
