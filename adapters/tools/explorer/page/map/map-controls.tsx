import { stay } from '../navigation/place.ts'
import { Choice } from '../parts/fields.tsx'
import { numberText } from '../parts/words.ts'
import { type MapProperty, type ShownMap, SIDES, type Side } from './read-map.ts'

interface Props {
  /** The members of the view in the address. */
  readonly where: Readonly<Record<string, string | undefined>>
  /** The last map that was read, if any. */
  readonly map: ShownMap | undefined
  readonly isNarrow: boolean
}

/** The kind of access, the form of the picture, and the property by which each side is divided. */
export function MapControls({ where, map, isNarrow }: Props) {
  // The groups have other places then.
  const set = (change: Readonly<Record<string, string | undefined>>) => stay('graph', { ...where, ...change })
  return (
    <>
      <Choice
        isInline
        label="Lines"
        value={where['type'] ?? 'Dial'}
        of={{ Dial: 'may dial', Bind: 'may bind' }}
        onChange={(type) => set({ type: type === 'Bind' ? 'Bind' : undefined })}
      />
      {!isNarrow && (
        <Choice
          isInline
          label="Shown as"
          value={where['as'] ?? ''}
          of={{ '': 'lines', policies: 'with policies', matrix: 'a matrix' }}
          onChange={(as) => set({ as: as || undefined })}
        />
      )}
      {map && SIDES.map((side) => <PropertyOf key={side} side={side} map={map} where={where} onChange={set} />)}
    </>
  )
}

interface PropertyProps {
  readonly side: Side
  readonly map: ShownMap
  readonly where: Props['where']
  readonly onChange: (change: Readonly<Record<string, string | undefined>>) => void
}

/** A choice of the property by which a side is divided. A side without a property shows none. */
function PropertyOf({ side, map, where, onChange }: PropertyProps) {
  const { properties, property, groups } = map.sides[side]
  const isAsked = where[`${side}By`] !== undefined
  const areNamed = groups.some(({ entity }) => entity)
  if (properties.length === 0 || (groups.length < 2 && !isAsked)) return null
  const proposed = !isAsked && !areNamed ? properties[property] : undefined
  return (
    <Choice
      isInline
      label={side === 'identities' ? 'Identities by' : 'Services by'}
      value={isAsked ? String(property) : ''}
      of={[
        ['', areNamed ? 'name' : proposed ? `${textOf(proposed)}, proposed` : 'what divides best'],
        ...properties.flatMap((one, place) => (one === proposed ? [] : [[String(place), textOf(one)] as const])),
      ]}
      onChange={(value) => onChange({ [`${side}By`]: properties[Number(value || -1)]?.roleAttributes[0] })}
    />
  )
}

function textOf({ roleAttributes: [first], roleAttributeCount }: MapProperty): string {
  return `#${first}${roleAttributeCount > 1 ? ` +${numberText(roleAttributeCount - 1)}` : ''}`
}
