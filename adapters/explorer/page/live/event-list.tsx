import { hrefOf } from '../navigation/place.ts'
import { timeText } from '../parts/time-text.ts'
import { type NetworkEvent, topicOf } from './network-event.ts'

/** As many events are listed; the timeline above goes back further. */
const MOST_LISTED = 200

/** Events, the newest first. */
export function EventList({ events }: { events: readonly NetworkEvent[] }) {
  const shown = events.slice(-MOST_LISTED).toReversed()
  return (
    <ol class="events" aria-label="Events, the newest first">
      {shown.map((event) => (
        <li key={event.id} class={`event topic-${topicOf(event)}`}>
          <time dateTime={event.at}>{timeText(event.at)}</time>
          <span class="event-type">{event.type}</span>
          <span class="event-text">
            {event.text}{' '}
            {event.identity && event.service && (
              <a href={hrefOf('why', { identity: event.identity.id, service: event.service.id })}>why</a>
            )}
          </span>
        </li>
      ))}
    </ol>
  )
}
