/** The seconds of a unit; "for ever" has none. */
const SECONDS = { minutes: 60, hours: 3600, days: 86_400, 'for ever': undefined } as const

type Unit = keyof typeof SECONDS
const UNITS = Object.keys(SECONDS) as readonly Unit[]

/** A duration as it is written: a whole number of a unit. */
export interface Lasting {
  readonly amount: string
  readonly unit: Unit
}

interface Props {
  readonly label: string
  readonly lasting: Lasting
  readonly onChange: (lasting: Lasting) => void
}

/** Asks for a duration. The browser lets nothing but whole numbers through. */
export function LastingFields({ label, lasting, onChange }: Props) {
  const isForEver = SECONDS[lasting.unit] === undefined
  return (
    <div class="row">
      {!isForEver && (
        <label>
          {label}
          <input
            type="number"
            min="1"
            step="1"
            required
            value={lasting.amount}
            onInput={({ currentTarget }) => onChange({ ...lasting, amount: currentTarget.value })}
          />
        </label>
      )}
      <label>
        {isForEver ? label : 'Unit'}
        <select
          value={lasting.unit}
          onChange={({ currentTarget: { value } }) =>
            onChange({ ...lasting, unit: UNITS.find((unit) => unit === value) ?? 'hours' })
          }
        >
          {UNITS.map((unit) => (
            <option key={unit}>{unit}</option>
          ))}
        </select>
      </label>
    </div>
  )
}

/** A duration in seconds; -1 for ever. Throws unless it is a whole number. */
export function secondsOf({ amount, unit }: Lasting): number {
  const size = SECONDS[unit]
  if (size === undefined) return -1
  if (!/^\d+$/.test(amount) || Number(amount) === 0)
    throw new Error(`${JSON.stringify(amount)} is no number of ${unit}.`)
  return Number(amount) * size
}
