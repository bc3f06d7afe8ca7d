import { useEffect, useRef } from 'preact/hooks'
import type { Apis } from '../api/apis.ts'
import { go, hrefOf, place, stay } from '../navigation/place.ts'
import { Loaded } from '../parts/loaded.tsx'
import { numberText } from '../parts/number-text.ts'
import { ScopeMembers } from '../parts/scope-members.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { useIsNarrow } from '../parts/use-narrow.ts'
import { GroupPanel } from './group-panel.tsx'
import { type Choice, MapDrawing } from './map-drawing.tsx'
import { MapList } from './map-list.tsx'
import { readMap, type ShownMap } from './read-map.ts'

/** The access map in few groups. A group opens into its own groups, and these into identities and services. */
export function MapView({ apis }: { apis: Apis }) {
  const { about } = place.value
  const identities = about.get('identities') ?? undefined
  const services = about.get('services') ?? undefined
  const type = about.get('type') === 'Bind' ? 'Bind' : 'Dial'
  const answer = useAnswer(
    (signal) => readMap(apis, { identities, services, type }, signal),
    [apis, identities, services, type],
  )
  const where = { identities, services, type: type === 'Bind' ? type : undefined }
  const [, side, text] = /^(identities|services)-(\d+)$/.exec(about.get('group') ?? '') ?? []
  const chosen: Choice | undefined =
    text === undefined ? undefined : { side: side === 'services' ? 'services' : 'identities', place: Number(text) }
  const choose = (choice: Choice | undefined) =>
    go('graph', { ...where, group: choice && `${choice.side}-${choice.place}` })
  // Groups change places when the network changes.
  const known = useRef<{ readonly group: string | null; readonly scope: string | undefined }>({
    group: null,
    scope: undefined,
  })
  const groups = chosen && answer.data?.sides[chosen.side].groups
  useEffect(() => {
    if (groups === undefined || chosen === undefined) return
    const { group, scope } = known.current
    const now = group === about.get('group') ? groups.findIndex((one) => one.scope === scope) : chosen.place
    known.current = { group: now < 0 ? null : `${chosen.side}-${now}`, scope: groups[now]?.scope }
    if (now !== chosen.place) stay('graph', { ...where, group: now < 0 ? undefined : `${chosen.side}-${now}` })
  }, [groups, about.get('group')])
  const isNarrow = useIsNarrow()
  return (
    <section class="graph">
      <div class="bar">
        <h1>Who reaches what</h1>
        <label class="inline">
          Lines
          <select
            value={type}
            onChange={({ currentTarget }) =>
              stay('graph', { ...where, type: currentTarget.value === 'Bind' ? 'Bind' : undefined })
            }
          >
            <option value="Dial">may dial</option>
            <option value="Bind">may bind</option>
          </select>
        </label>
        {(identities || services) && <a href={hrefOf('graph')}>Everything</a>}
        {!isNarrow && <Legend />}
      </div>
      <div class={chosen ? 'graph-body has-panel' : 'graph-body'}>
        <div class="map-frame" data-results>
          <Loaded answer={answer} isEmpty={isEmpty} empty="Nothing is here yet that you may see.">
            {(map) => (
              <>
                {isNarrow ? (
                  <MapList map={map} chosen={chosen} onChoose={choose} />
                ) : (
                  <MapDrawing map={map} chosen={chosen} onChoose={choose} />
                )}
                {!isNarrow && map.links.length > map.drawn.size && (
                  <p class="muted">
                    {numberText(map.links.length - map.drawn.size)} thinner lines appear when a group is chosen.
                  </p>
                )}
                {identities && map.sides.identities.groups.length === 1 && (
                  <ScopeMembers apis={apis} kind="identities" scope={identities} />
                )}
              </>
            )}
          </Loaded>
        </div>
        {chosen && answer.data && (
          <GroupPanel apis={apis} map={answer.data} chosen={chosen} where={where} onChoose={choose} />
        )}
      </div>
    </section>
  )
}

/** The meaning of the lines. */
function Legend() {
  return (
    <ul class="legend" aria-label="Legend">
      {LEGEND.map(({ label, width, isGuarded }) => (
        <li key={label}>
          <svg width="34" height="10" aria-hidden="true">
            <path class={`sample${isGuarded ? ' is-guarded' : ''}`} d="M0 5h34" stroke-width={width} />
          </svg>
          {label}
        </li>
      ))}
    </ul>
  )
}

const LEGEND = [
  { label: 'some pairs', width: 1.5, isGuarded: false },
  { label: 'all pairs', width: 7, isGuarded: false },
  { label: 'if posture passes', width: 3, isGuarded: true },
] as const

function isEmpty({ sides }: ShownMap): boolean {
  return sides.identities.count === 0 && sides.services.count === 0
}
