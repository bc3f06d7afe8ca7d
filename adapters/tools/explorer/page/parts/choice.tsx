interface Props {
  readonly label: string
  readonly value: string
  /** The values, each with its words where these differ. */
  readonly of: readonly (string | readonly [value: string, words: string])[]
  readonly onChange: (value: string) => void
  /** Whether the label stands beside the choice. */
  readonly isInline?: boolean
  readonly isLabelUnseen?: boolean
}

/** A choice of one value of a few. */
export function Choice({ label, value, of, onChange, isInline, isLabelUnseen }: Props) {
  return (
    <label class={isInline ? 'inline' : undefined}>
      {isLabelUnseen ? <span class="unseen">{label}</span> : label}
      <select value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {of.map((one) => {
          const [key, words] = typeof one === 'string' ? [one, one] : one
          return (
            <option key={key} value={key}>
              {words}
            </option>
          )
        })}
      </select>
    </label>
  )
}
