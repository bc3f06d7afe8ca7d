import { useMemo } from 'preact/hooks'
import { visibleLine } from '../../../../../src/base/text.ts'
import { hrefOf } from '../navigation/place.ts'
import { Name } from '../parts/entity-link.tsx'
import { numberText } from '../parts/words.ts'
import type { MapProps } from './map-drawing.tsx'
import { layoutOf } from './map-layout.ts'
import { type MapGroup, type MapLink, type ShownMap, type Side, shareOf } from './read-map.ts'

const SHADES = 5

/** The access map as a table: identities as rows, services as columns, and the darker a cell, the more of its pairs may dial or bind. */
export function MapMatrix({ map, chosen, onChoose }: MapProps) {
  const { rows } = useMemo(() => layoutOf({ ...map, policies: [] }), [map])
  const links = useMemo(() => new Map(map.links.map((link) => [`${link.from} ${link.to}`, link])), [map])
  const ordered = (side: Side) =>
    map.sides[side].groups
      .map((group, place) => ({ group, place, row: rows.get(side)?.[place] ?? 0 }))
      .sort((a, b) => a.row - b.row)
  const [lines, columns] = [ordered('identities'), ordered('services')]
  const head = (side: Side, group: MapGroup, place: number) => {
    const isChosen = chosen?.side === side && chosen.place === place
    return (
      <button
        type="button"
        class="quiet heat-head"
        aria-pressed={isChosen}
        title={visibleLine([group.title, group.within].filter(Boolean).join(', '))}
        data-key={group.key}
        onClick={() => onChoose(isChosen ? undefined : { side, place })}
      >
        <span class="heat-name">
          <Name of={group.title} />
        </span>
        {group.entity === null && <span class="muted">{numberText(group.count)}</span>}
      </button>
    )
  }
  return (
    <table class="heat" aria-label={`Identities, and the services that they may ${map.type.toLowerCase()}`}>
      <thead>
        <tr>
          <td />
          {columns.map(({ group, place }) => (
            <th key={group.key} scope="col">
              {head('services', group, place)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {lines.map(({ group, place }) => (
          <tr key={group.key}>
            <th scope="row">{head('identities', group, place)}</th>
            {columns.map((column) => (
              <Cell
                key={column.group.key}
                map={map}
                link={links.get(`${place} ${column.place}`)}
                from={group}
                to={column.group}
              />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** The share in percent of the pairs; of two entities, a mark that leads to the reason. */
function Cell({ map, link, from, to }: { map: ShownMap; link: MapLink | undefined; from: MapGroup; to: MapGroup }) {
  if (link === undefined) return <td />
  const share = shareOf(map, link)
  const shade = Math.max(1, Math.ceil(share * SHADES))
  const by = link.policies.map(({ name }) => name).join(', ')
  const more = link.policyCount > link.policies.length ? ` and ${link.policyCount - link.policies.length} more` : ''
  const words = visibleLine(`${from.title}, ${to.title}: by ${by}${more}${link.isGuarded ? ', if posture passes' : ''}`)
  const text = share === 1 ? '✓' : String(Math.max(1, Math.round(100 * share)))
  return (
    <td class={`heat-${shade}${link.isGuarded ? ' heat-guarded' : ''}`} title={words}>
      {from.entity && to.entity ? (
        <a
          href={hrefOf('why', { identity: from.entity.id, service: to.entity.id, type: map.type })}
          aria-label={`Why: ${words}`}
          tabindex={-1}
        >
          {text}
        </a>
      ) : (
        text
      )}
    </td>
  )
}
