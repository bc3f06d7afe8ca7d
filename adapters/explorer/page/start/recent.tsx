import type { Apis } from '../api/apis.ts'
import { EventSentence } from '../live/event-sentence.tsx'
import { foldRuns } from '../live/fold-runs.ts'
import { isLoss, type NetworkEvent } from '../live/network-event.ts'
import { readTimeline } from '../live/read-timeline.ts'
import { hrefOf } from '../navigation/place.ts'
import { Loaded } from '../parts/loaded.tsx'
import { numberText } from '../parts/number-text.ts'
import { timeText } from '../parts/time-text.ts'
import { useAnswer } from '../parts/use-answer.ts'

const HOUR_MS = 3_600_000
const MOST_SHOWN = 5

/** Who was refused or lost access in the last hour, and why; and the way to what was changed. */
export function Recent({ apis }: { apis: Apis }) {
  const answer = useAnswer((signal) => readTimeline(apis, signal), [apis])
  return (
    <section class="card" aria-label="The last hour">
      <h2>The last hour</h2>
      <Loaded answer={answer}>
        {({ events }) => {
          const since = Date.now() - HOUR_MS
          const losses = events.filter((event) => isLoss(event) && Date.parse(event.at) > since)
          return (
            <>
              <p>
                <a href={hrefOf('live')}>
                  <strong>{numberText(losses.length)}</strong> refused, failed or lost
                </a>{' '}
                · <a href={hrefOf('changes')}>what was changed, and by whom</a> ·{' '}
                <a href={hrefOf('changes', { of: 'access' })}>which change took access away</a>
              </p>
              <ul class="plain">
                {foldRuns(losses)
                  .slice(-MOST_SHOWN)
                  .toReversed()
                  .map(({ last, events: run }) => (
                    <Loss key={last.id} event={last} count={run.length} />
                  ))}
              </ul>
            </>
          )
        }}
      </Loaded>
    </section>
  )
}

function Loss({ event, count }: { event: NetworkEvent; count: number }) {
  const { identity, service } = event
  return (
    <li>
      <time dateTime={event.at} class="muted">
        {timeText(event.at)}
      </time>{' '}
      <EventSentence event={event} /> {count > 1 && <span class="muted">×{numberText(count)}</span>}{' '}
      {identity && service && <a href={hrefOf('why', { identity: identity.id, service: service.id })}>why</a>}
    </li>
  )
}
