import { useEffect, useState } from 'preact/hooks'
import type { Apis } from '../api/apis.ts'
import { isOfTraffic } from '../events/network-event.ts'
import { AndMore } from '../parts/and-more.tsx'
import { EntityLink } from '../parts/entity-link.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { numberText } from '../parts/number-text.ts'
import { useAnswer } from '../parts/use-answer.ts'
import { useIsNarrow } from '../parts/use-narrow.ts'
import { CircuitsPart, type Traffic } from './circuits-part.tsx'
import { FlowList } from './flow-list.tsx'
import { MOST_IN_COLUMN, TrafficDrawing } from './traffic-drawing.tsx'

/** Milliseconds between two readings of the state without events: routers of other processes send no events here. */
const READ_EVERY_MS = 15_000

/** Routers, links and circuits as they are now, drawn and as tables. */
export function TrafficNow({ apis }: { apis: Apis }) {
  const [version, setVersion] = useState(0)
  const isNarrow = useIsNarrow()
  useEffect(() => {
    const again = () => setVersion((before) => before + 1)
    const timer = setInterval(again, READ_EVERY_MS)
    return () => clearInterval(timer)
  }, [])
  const answer = useAnswer(
    async (signal) => (await apis.portcullis.call('GET /traffic', { query: { limit: '1' }, signal })).data,
    [apis, version],
    isOfTraffic,
  )
  return (
    <Loaded answer={answer} isQuiet>
      {(traffic) => (
        <>
          <Numbers traffic={traffic} />
          <section class="card scrolls" aria-label="Who talks to whom">
            <h2>Who talks to whom</h2>
            {traffic.routers.length === 0 && <p class="muted">There are no routers yet.</p>}
            {isNarrow && <FlowList traffic={traffic} />}
            {!isNarrow && traffic.routers.length > 0 && <TrafficDrawing traffic={traffic} />}
            {!isNarrow && traffic.routers.length > MOST_IN_COLUMN && (
              <p class="muted">
                Drawn are those with most traffic, and routers that are offline: {numberText(MOST_IN_COLUMN)} of{' '}
                {numberText(traffic.counts.routers)} routers.
              </p>
            )}
            {!traffic.isOpen && (
              <p class="muted">This controller serves no routers: circuits and links are not known here.</p>
            )}
          </section>
          <CircuitsPart apis={apis} version={version} />
          <div class="columns">
            <Routers traffic={traffic} />
            <Links traffic={traffic} />
          </div>
        </>
      )}
    </Loaded>
  )
}

function Numbers({ traffic: { counts } }: { traffic: Traffic }) {
  const offline = counts.routers - counts.routersOnline
  return (
    <dl class="counts now" aria-label="Now">
      <div class={`count ${offline > 0 ? 'count-bad' : 'count-good'}`}>
        <dt>routers online</dt>
        <dd>
          {numberText(counts.routersOnline)} of {numberText(counts.routers)}
        </dd>
      </div>
      <div class="count">
        <dt>links</dt>
        <dd>{numberText(counts.links)}</dd>
      </div>
      <div class="count">
        <dt>circuits</dt>
        <dd>{numberText(counts.circuits)}</dd>
      </div>
    </dl>
  )
}

const MOST_LISTED = 20

function Routers({ traffic: { routers, counts } }: { traffic: Traffic }) {
  return (
    <section class="card" aria-label="Routers">
      <h2>Routers</h2>
      <table class="list">
        <thead>
          <tr>
            <th scope="col">Router</th>
            <th scope="col">State</th>
            <th scope="col" class="number">
              Circuits
            </th>
          </tr>
        </thead>
        <tbody>
          {routers.slice(0, MOST_LISTED).map(({ id, name, kind, isOnline, circuits }) => (
            <tr key={id}>
              <td>
                <span class={`dot ${isOnline ? 'dot-online' : 'dot-down'}`} />{' '}
                <EntityLink kind={kind} id={id} name={name} />
              </td>
              <td class={isOnline ? undefined : 'loss'}>{isOnline ? 'online' : 'offline'}</td>
              <td class="number">{numberText(circuits)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <AndMore all={counts.routers} shown={MOST_LISTED} />
    </section>
  )
}

function Links({ traffic: { links, counts } }: { traffic: Traffic }) {
  return (
    <section class="card" aria-label="Links">
      <h2>Links</h2>
      {links.length === 0 && <p class="muted">None between routers of this controller.</p>}
      {links.length > 0 && (
        <table class="list">
          <thead>
            <tr>
              <th scope="col">Between</th>
              <th scope="col" class="number">
                Latency
              </th>
              <th scope="col" class="number">
                Circuits
              </th>
            </tr>
          </thead>
          <tbody>
            {links.slice(0, MOST_LISTED).map(({ id, source, target, latencyMs, isDown, circuits }) => (
              <tr key={id}>
                <td>
                  <EntityLink kind="edge-routers" {...source} /> – <EntityLink kind="edge-routers" {...target} />
                  {isDown && <span class="loss"> out of use</span>}
                </td>
                <td class="number">{latencyMs === null ? '–' : `${numberText(Math.round(latencyMs * 10) / 10)} ms`}</td>
                <td class="number">{numberText(circuits)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <AndMore all={counts.links} shown={MOST_LISTED} />
    </section>
  )
}
