import { useEffect, useRef } from 'preact/hooks'
import { aboutNow, go, hrefOf, place, stay } from '../navigation/place.ts'
import { Name } from '../parts/entity-link.tsx'
import { ScopeMembers } from '../parts/found-list.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { useIsNarrow } from '../parts/use-narrow.ts'
import { numberText } from '../parts/words.ts'
import { useApis } from '../session/session.ts'
import { GroupPanel } from './group-panel.tsx'
import { MapControls } from './map-controls.tsx'
import { type Choice, MapDrawing } from './map-drawing.tsx'
import { layoutOf } from './map-layout.ts'
import { MapList } from './map-list.tsx'
import { MapMatrix } from './map-matrix.tsx'
import { isEmptyMap, readMap, type ShownMap, SIDES, scopeTitle } from './read-map.ts'

/** The members of the view in the address, beside the chosen group. */
const HELD = ['identities', 'services', 'identitiesBy', 'servicesBy', 'type', 'as'] as const

/** The access map. A group opens into its own groups, and these into identities and services. */
export function MapView() {
  const apis = useApis()
  const { about } = place.value
  const isNarrow = useIsNarrow()
  const where = aboutNow(...HELD)
  const { identities, services, identitiesBy, servicesBy } = where
  const form = isNarrow ? undefined : where['as']
  const type = where['type'] === 'Bind' ? 'Bind' : 'Dial'
  const hasPolicies = form === 'policies'
  const answer = useAnswer(
    (signal) => readMap(apis, { identities, services, identitiesBy, servicesBy, type, hasPolicies }, signal),
    [apis, identities, services, identitiesBy, servicesBy, type, hasPolicies],
  )
  const [, side, text] = /^(identities|services)-(\d+)$/.exec(about.get('group') ?? '') ?? []
  const chosen: Choice | undefined =
    text === undefined ? undefined : { side: side === 'services' ? 'services' : 'identities', place: Number(text) }
  const choose = (choice: Choice | undefined) =>
    go('graph', { ...where, group: choice && `${choice.side}-${choice.place}` })
  // Groups change places when the network changes.
  const known = useRef<{ readonly group: string | null; readonly key: string | undefined }>({
    group: null,
    key: undefined,
  })
  const groups = chosen && answer.data?.sides[chosen.side].groups
  useEffect(() => {
    if (groups === undefined || chosen === undefined) return
    const { group, key } = known.current
    const now = group === about.get('group') ? groups.findIndex((one) => one.key === key) : chosen.place
    known.current = { group: now < 0 ? null : `${chosen.side}-${now}`, key: groups[now]?.key }
    if (now !== chosen.place) stay('graph', { ...where, group: now < 0 ? undefined : `${chosen.side}-${now}` })
  }, [groups, about.get('group')])
  const opened = [identities, services].flatMap((scope) => (scope ? [scopeTitle(scope)] : []))
  const onPolicy = (id: string) => go('policy', { id })
  return (
    <section class="graph">
      <div class="bar">
        <h1>Who reaches what</h1>
        {opened.length > 0 && (
          <p>
            <a href={hrefOf('graph', { type: where['type'], as: where['as'] })}>Everything</a> ›{' '}
            <Name of={opened.join(', ')} />
          </p>
        )}
        <MapControls where={where} map={answer.data} isNarrow={isNarrow} />
        {!isNarrow && form !== 'matrix' && <Legend />}
      </div>
      <div class={chosen ? 'graph-body has-panel' : 'graph-body'}>
        <div class="map-frame" data-results>
          <Loaded
            answer={answer}
            isEmpty={isEmptyMap}
            empty={
              <>
                Nothing is here yet. <a href={hrefOf('json')}>Set the network up, step by step</a>
              </>
            }
          >
            {(map) => (
              <>
                {isNarrow ? (
                  <MapList map={map} chosen={chosen} onChoose={choose} />
                ) : form === 'matrix' ? (
                  <MapMatrix map={map} chosen={chosen} onChoose={choose} />
                ) : (
                  <MapDrawing map={map} chosen={chosen} onChoose={choose} onPolicy={onPolicy} />
                )}
                {!isNarrow && <LeftOut map={map} form={form} />}
                {identities && map.sides.identities.groups.length === 1 && (
                  <ScopeMembers kind="identities" scope={identities} />
                )}
              </>
            )}
          </Loaded>
        </div>
        {chosen && answer.data && <GroupPanel map={answer.data} chosen={chosen} where={where} onChoose={choose} />}
      </div>
    </section>
  )
}

/** The lines and policies that the picture leaves out, and the meaning of its marks. */
function LeftOut({ map, form }: { map: ShownMap; form: string | undefined }) {
  if (form === 'matrix') {
    return (
      <p class="map-note muted">
        {SIDES.every((side) => map.sides[side].groups.every(({ entity }) => entity))
          ? `✓ may ${map.type.toLowerCase()}, and leads to the reason.`
          : '✓ stands for all pairs, a number for so many of a hundred pairs.'}{' '}
        A broken frame: only if posture passes.
      </p>
    )
  }
  const { edges, drawn } = layoutOf(map)
  const [lines, policies] = [edges.length - drawn.size, map.policyCount - map.policies.length]
  if (lines === 0 && (form === undefined || policies <= 0)) return null
  return (
    <p class="map-note muted">
      {lines > 0 && `${numberText(lines)} more lines appear when what they belong to is pointed at or chosen. `}
      {policies > 0 && `${numberText(policies)} policies that grant less are left out: open a group to see them.`}
    </p>
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
  { label: 'some pairs', width: 1, isGuarded: false },
  { label: 'all pairs', width: 3.5, isGuarded: false },
  { label: 'if posture passes', width: 2, isGuarded: true },
] as const
