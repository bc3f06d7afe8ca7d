import { HOUR_MS } from '../../../../../src/base/time.ts'
import {
  isLoss,
  isOfAny,
  isOfKind,
  isOfNetwork,
  type NetworkEvent,
  readTimeline,
  sayingOf,
} from '../events/network-event.ts'
import { EventSentence } from '../live/event-list.tsx'
import { MapPreview } from '../map/map-preview.tsx'
import { hrefOf, place } from '../navigation/place.ts'
import { EntityLink, Joined, Name, Time } from '../parts/entity-link.tsx'
import { foldRuns } from '../parts/fold.ts'
import { Loaded } from '../parts/loaded.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { useIsNarrow } from '../parts/use-narrow.ts'
import { distanceText, numberText, wholeText } from '../parts/words.ts'
import { OpenRequests } from '../requests/open-requests.tsx'
import { useApis } from '../session/session.ts'
import { routersTone } from '../traffic/traffic-now.tsx'
import { useTraffic } from '../traffic/use-traffic.ts'
import { actLabel, FindingAct } from './finding-act.tsx'
import { type FindingKind, type Findings, findingNamed, WORDS } from './finding-words.ts'

/** The first view: numbers that lead to lists. */
export function StartView() {
  const kind = findingNamed(place.value.about.get('finding'))
  return kind === undefined ? <Overview /> : <FindingList key={kind} kind={kind} />
}

/** A service without a host has no terminator. */
const FINDINGS_MAY_CHANGE = isOfAny(isOfNetwork, isOfKind('terminators'))

function Overview() {
  const apis = useApis()
  const answer = useAnswer(
    async (signal) => (await apis.portcullis.call('GET /findings', { signal })).data,
    [apis],
    FINDINGS_MAY_CHANGE,
  )
  const isNarrow = useIsNarrow()
  return (
    <section class="reading">
      <div class="bar">
        <h1>Overview</h1>
        {!isNarrow && (
          <p class="muted">
            Type <kbd>/</kbd> to find anything by name.
          </p>
        )}
      </div>
      <OpenRequests />
      <Recent />
      <Loaded answer={answer} isEmpty={(data) => data.length === 0} empty="You may not see what this is made of.">
        {(data) => <FindingCards findings={data} onDone={answer.reload} />}
      </Loaded>
      {!isNarrow && <MapPreview />}
    </section>
  )
}

function FindingCards({ findings, onDone }: { findings: Findings; onDone: () => void }) {
  const found = findings.filter(({ count }) => count > 0)
  const others = findings.filter(({ count, judged }) => count === 0 && judged > 0)
  const isJudged = (of: FindingKind) => findings.some(({ finding, judged }) => finding === of && judged > 0)
  const [hasRouters, hasServices] = [isJudged('edge-routers-offline'), isJudged('services-without-terminators')]
  return (
    <>
      <ul class="findings" aria-label="Findings">
        {found.map(({ finding: one, count, entities }) => (
          <li key={one} class={WORDS[one].isUrgent ? 'card is-urgent' : 'card'}>
            <a href={hrefOf('start', { finding: one })}>
              <strong>{numberText(count)}</strong> {WORDS[one].found[count === 1 ? 0 : 1]}
            </a>
            <p class="muted">
              <Joined of={entities.slice(0, 3)}>{(entity) => <FoundEntity entity={entity} />}</Joined>
            </p>
            {entities[0] && (
              <p class="act">
                {count === 1 ? (
                  <FindingAct finding={one} entity={entities[0]} onDone={onDone} />
                ) : (
                  <a class="button" href={hrefOf('start', { finding: one })}>
                    {actLabel(one, entities[0]) ?? 'See them'}…
                  </a>
                )}
              </p>
            )}
          </li>
        ))}
      </ul>
      {!hasServices && (
        <p class="muted">
          There is no {hasRouters ? '' : 'edge router and no '}service yet, so there is little to judge.{' '}
          <a href={hrefOf('json')}>Set the network up, step by step</a>
        </p>
      )}
      {(hasRouters || hasServices) && others.length > 0 && (
        <p class="muted">
          <span class="gain" aria-hidden="true">
            ✓
          </span>{' '}
          All well: {others.map(({ finding: one }) => WORDS[one].absent).join(', ')}.
        </p>
      )}
    </>
  )
}

/** An entity with the distance of its instant; only its name where it has no page. */
function FoundEntity({ entity }: { entity: Findings[number]['entities'][number] }) {
  const { kind, at } = entity
  return (
    <>
      {UNLINKED.has(kind) ? <Name of={entity.name} /> : <EntityLink {...entity} />}
      {at !== null && <span title={wholeText(at)}> {distanceText(at)}</span>}
    </>
  )
}

const UNLINKED: ReadonlySet<string> = new Set(['clocks', 'network-authorities', 'backups'])

function FindingList({ kind }: { kind: FindingKind }) {
  const apis = useApis()
  const cursor = place.value.about.get('after') ?? undefined
  const answer = useAnswer(
    async (signal) => {
      const query = { finding: kind, limit: '100', ...(cursor !== undefined && { cursor }) }
      return (await apis.portcullis.call('GET /findings', { query, signal })).data[0]
    },
    [apis, kind, cursor],
    FINDINGS_MAY_CHANGE,
  )
  return (
    <section class="reading">
      <div class="bar">
        <h1>
          {answer.data && numberText(answer.data.count)} {WORDS[kind].found[answer.data?.count === 1 ? 0 : 1]}
        </h1>
        <a href={hrefOf('start')}>Overview</a>
      </div>
      <Loaded answer={answer}>
        {(data) => (
          <div class="card">
            <p class="muted">{WORDS[kind].meaning}</p>
            <ul class="found">
              {data?.entities.map((entity) => (
                <li key={entity.id}>
                  <span>
                    <FoundEntity entity={entity} /> <span class="muted">{entity.detail}</span>
                  </span>
                  <FindingAct finding={kind} entity={entity} onDone={answer.reload} />
                </li>
              ))}
            </ul>
            {data?.nextCursor && (
              <a class="button" href={hrefOf('start', { finding: kind, after: data.nextCursor })}>
                Next
              </a>
            )}
          </div>
        )}
      </Loaded>
    </section>
  )
}

const MOST_SHOWN = 5

/** The state in numbers, the identities that were refused or lost access in the last hour, and links to the changes. */
function Recent() {
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
