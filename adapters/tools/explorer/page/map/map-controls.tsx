import { stay } from '../navigation/place.ts'
import { numberText } from '../parts/number-text.ts'
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
      <label class="inline">
        Lines
        <select
          value={where['type'] ?? 'Dial'}
          onChange={({ currentTarget }) => set({ type: currentTarget.value === 'Bind' ? 'Bind' : undefined })}
        >
          <option value="Dial">may dial</option>
          <option value="Bind">may bind</option>
        </select>
      </label>
      {!isNarrow && (
        <label class="inline">
          Shown as
          <select
            value={where['as'] ?? ''}
            onChange={({ currentTarget }) => set({ as: currentTarget.value || undefined })}
          >
            <option value="">lines</option>
            <option value="policies">with policies</option>
            <option value="matrix">a matrix</option>
          </select>
        </label>
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
    <label class="inline">
      {side === 'identities' ? 'Identities by' : 'Services by'}
      <select
        class="map-property"
        value={isAsked ? String(property) : ''}
        onChange={({ currentTarget }) =>
          onChange({ [`${side}By`]: properties[Number(currentTarget.value || -1)]?.roleAttributes[0] })
        }
      >
        <option value="">{areNamed ? 'name' : proposed ? `${textOf(proposed)}, proposed` : 'what divides best'}</option>
        {properties.map((one, place) =>
          one === proposed ? null : (
            <option key={one.roleAttributes.join()} value={place}>
              {textOf(one)}
            </option>
          ),
        )}
      </select>
    </label>
  )
}

function textOf({ roleAttributes: [first], roleAttributeCount }: MapProperty): string {
  return `#${first}${roleAttributeCount > 1 ? ` +${numberText(roleAttributeCount - 1)}` : ''}`
}
