import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { hrefOf } from '../navigation/place.ts'
import { numberText } from '../parts/number-text.ts'
import { timeText } from '../parts/time-text.ts'
import { EventSentence } from './event-sentence.tsx'
import { foldRuns, type Run } from './fold-runs.ts'
import { isLoss, type NetworkEvent, topicOf } from './network-event.ts'

/** As many lines are listed; the timeline above goes back further. */
const MOST_LISTED = 200

/** Events, the newest first; what repeats is one line that opens. */
export function EventList({ events }: { events: readonly NetworkEvent[] }) {
  const shown = foldRuns(events).slice(-MOST_LISTED).toReversed()
  return (
    <ol class="events" aria-label="Events, the newest first">
      {shown.map((run) => (
        <EventRun key={run.first.id} run={run} />
      ))}
    </ol>
  )
}

function EventRun({ run: { last, events } }: { run: Run }) {
  const [isOpen, setOpen] = useState(false)
  const others = events.length - 1
  return (
    <>
      <Line event={last}>
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
          .map((event) => <Line key={event.id} event={event} />)}
    </>
  )
}

function Line({ event, children }: { event: NetworkEvent; children?: ComponentChildren }) {
  return (
    <li class={`event topic-${topicOf(event)}${isLoss(event) ? ' is-loss' : ''}`}>
      <time dateTime={event.at}>{timeText(event.at)}</time>
      <span class="event-type">{event.type}</span>
      <span class="event-text">
        <EventSentence event={event} />{' '}
        {event.identity && event.service && (
          <a href={hrefOf('why', { identity: event.identity.id, service: event.service.id })}>why</a>
        )}{' '}
        {children}
      </span>
    </li>
  )
}
