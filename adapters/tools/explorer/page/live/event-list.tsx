import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { FieldChanges } from '../changes/field-changes.tsx'
import { isLoss, type NetworkEvent, sayingOf, topicOf } from '../events/network-event.ts'
import { hrefOf } from '../navigation/place.ts'
import { foldRuns, type Run } from '../parts/fold-runs.ts'
import { numberText } from '../parts/number-text.ts'
import { Time } from '../parts/time.tsx'
import { EventSentence } from './event-sentence.tsx'
import type { RecordOf } from './use-records.ts'

/** As many lines are listed; the timeline above goes back further. */
const MOST_LISTED = 200

/** Events that are alike are one line across this many other lines. */
const MOST_BETWEEN = 5

/** Events, the newest first; repeated events are one line that opens. */
export function EventList({ events, recordOf }: { events: readonly NetworkEvent[]; recordOf: RecordOf }) {
  const shown = foldRuns(events, sayingOf, MOST_BETWEEN).slice(-MOST_LISTED).toReversed()
  return (
    <ol class="events" aria-label="Events, the newest first">
      {shown.map((run) => (
        <EventRun key={run.first.id} run={run} recordOf={recordOf} />
      ))}
    </ol>
  )
}

function EventRun({ run: { last, events }, recordOf }: { run: Run<NetworkEvent>; recordOf: RecordOf }) {
  const [isOpen, setOpen] = useState(false)
  const others = events.length - 1
  return (
    <>
      <Line event={last} recordOf={recordOf}>
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
          .map((event) => <Line key={event.id} event={event} recordOf={recordOf} />)}
    </>
  )
}

interface LineProps {
  readonly event: NetworkEvent
  readonly recordOf: RecordOf
  readonly children?: ComponentChildren
}

function Line({ event, recordOf, children }: LineProps) {
  const record = recordOf(event)
  return (
    <li class={`event topic-${topicOf(event)}${isLoss(event) ? ' is-loss' : ''}`}>
      <Time at={event.at} />
      <div class="event-text" title={event.type}>
        <EventSentence event={event} />{' '}
        {event.identity && event.service && (
          <a href={hrefOf('why', { identity: event.identity.id, service: event.service.id })}>why</a>
        )}{' '}
        {children}
        {record && <FieldChanges entry={record} isBrief />}
      </div>
    </li>
  )
}
