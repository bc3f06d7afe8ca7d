import { isLoss, type NetworkEvent, readTimeline, sayingOf } from '../events/network-event.ts'
import { EventSentence } from '../live/event-list.tsx'
import { hrefOf } from '../navigation/place.ts'
import { Time } from '../parts/entity-link.tsx'
import { foldRuns } from '../parts/fold.ts'
import { Loaded } from '../parts/loaded.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { numberText } from '../parts/words.ts'
import { useApis } from '../session/session.ts'
import { routersTone } from '../traffic/traffic-now.tsx'
import { useTraffic } from '../traffic/use-traffic.ts'

const HOUR_MS = 3_600_000
const MOST_SHOWN = 5

/** The state in numbers, the identities that were refused or lost access in the last hour, and links to the changes. */
export function Recent() {
  const apis = useApis()
  const answer = useAnswer((signal) => readTimeline(apis, signal), [apis], isLoss)
  const traffic = useTraffic()
  const counts = (traffic.data ?? traffic.earlier)?.counts
  return (
    <section class="card" aria-label="The last hour">
      <Loaded answer={answer}>
        {({ events }) => {
          const since = Date.now() - HOUR_MS
          const losses = events.filter((event) => isLoss(event) && Date.parse(event.at) > since)
          return (
            <>
              <div class="counts now">
                <a class={`count ${losses.length > 0 ? 'count-bad' : ''}`} href={hrefOf('live')}>
                  <strong>{numberText(losses.length)}</strong> refused, failed or lost in the last hour
                </a>
                {counts && (
                  <>
                    <a class={`count ${routersTone(counts)}`} href={hrefOf('live')}>
                      <strong>
                        {numberText(counts.routersOnline)} of {numberText(counts.routers)}
                      </strong>{' '}
                      routers online
                    </a>
                    <a class="count" href={hrefOf('live')}>
                      <strong>{numberText(counts.circuits)}</strong> {counts.circuits === 1 ? 'circuit' : 'circuits'}{' '}
                      over {numberText(counts.links)} {counts.links === 1 ? 'link' : 'links'}
                    </a>
                  </>
                )}
              </div>
              <ul class="plain">
                {foldRuns(losses, sayingOf)
                  .slice(-MOST_SHOWN)
                  .toReversed()
                  .map(({ last, events: run }) => (
                    <Loss key={last.id} event={last} count={run.length} />
                  ))}
              </ul>
              <p>
                In the last hour: <a href={hrefOf('changes')}>what was changed, and by whom</a> ·{' '}
                <a href={hrefOf('changes', { of: 'access' })}>which change took access away</a>
              </p>
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
      <span class="muted">
        <Time at={event.at} />
      </span>{' '}
      <EventSentence event={event} /> {count > 1 && <span class="muted">×{numberText(count)}</span>}{' '}
      {identity && service && <a href={hrefOf('why', { identity: identity.id, service: service.id })}>why</a>}
    </li>
  )
}
