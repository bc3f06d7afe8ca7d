import { visibleLine } from '../../../../../src/base/text.ts'
import { numberText } from '../parts/words.ts'
import type { MapProps } from './map-drawing.tsx'
import { linksOf, type MapGroup, type MapLink, type ShownMap, SIDES, type Side, shareText } from './read-map.ts'

/** The greatest number of linked groups beside a group; its panel has the others. */
const MOST_LINKED = 3

/** The access map as a list, for windows that are too narrow for two columns and lines between them. */
export function MapList({ map, chosen, onChoose }: MapProps) {
  return (
    <div class="map-list stack">
      {SIDES.map((side) => (
        <section key={side} aria-label={HEADS[side]}>
          <h2>{HEADS[side]}</h2>
          <ul class="links">
            {map.sides[side].groups.map((group, place) => (
              <li key={group.key}>
                <button
                  type="button"
                  class="map-row"
                  aria-pressed={chosen?.side === side && chosen.place === place}
                  data-key={group.key}
                  onClick={() => onChoose({ side, place })}
                >
                  <span class="map-row-name">
                    <strong>{visibleLine(group.title)}</strong>
                    {group.within !== '' && <span class="muted"> {visibleLine(group.within)}</span>}
                  </span>
                  {group.entity === null && <span class="number">{numberText(group.count)}</span>}
                  <span class="map-row-linked muted">{linkedText(map, side, place)}</span>
                </button>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  )
}

const HEADS = { identities: 'Identities', services: 'Services' } as const

/** The groups that a group is linked with, the largest share first. */
function linkedText(map: ShownMap, side: Side, place: number): string {
  const other = side === 'identities' ? 'services' : 'identities'
  const otherOf = ({ from, to }: MapLink): MapGroup | undefined =>
    map.sides[other].groups[side === 'identities' ? to : from]
  const linked = linksOf(map, side, place)
  const verb = map.type.toLowerCase()
  if (linked.length === 0)
    return side === 'identities'
      ? `may ${verb} nothing`
      : `nobody may ${verb} ${map.sides.services.groups[place]?.entity ? 'it' : 'them'}`
  const named = linked.slice(0, MOST_LINKED).map((link) => {
    const share = shareText(map, link)
    return `${visibleLine(otherOf(link)?.title ?? '')}${share && ` (${share})`}`
  })
  const more = linked.length > MOST_LINKED ? ` and ${numberText(linked.length - MOST_LINKED)} more` : ''
  return `${side === 'identities' ? `may ${verb}` : 'reached by'} ${named.join(', ')}${more}`
}
