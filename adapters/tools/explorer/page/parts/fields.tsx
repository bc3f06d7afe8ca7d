import type { PartialInputHTMLAttributes } from 'preact'

interface TextProps extends Omit<PartialInputHTMLAttributes<HTMLInputElement>, 'label' | 'onChange'> {
  readonly label: string
  /** Absent where the form is read as a whole. */
  readonly onChange?: (value: string) => void
}

/** A field for a text, below its label. */
export function TextInput({ label, onChange, ...input }: TextProps) {
  // An input of an unknown type is of no variant that the attributes are declared by.
  const attributes: object = input
  return (
    <label>
      {label}
      <input {...attributes} onInput={({ currentTarget }) => onChange?.(currentTarget.value)} />
    </label>
  )
}

interface ToggleProps {
  readonly label: string
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
  readonly class?: string
}

/** Something that holds or does not. */
export function Toggle({ label, isOn, onChange, class: more = '' }: ToggleProps) {
  return (
    <label class={`toggle ${more}`}>
      <input type="checkbox" checked={isOn} onChange={({ currentTarget }) => onChange(currentTarget.checked)} />
      {label}
    </label>
  )
}

interface ChoiceProps {
  readonly label: string
  readonly value: string
  /** The values with their words, as a table or in an order of their own. */
  readonly of: Readonly<Record<string, string>> | readonly (readonly [value: string, words: string])[]
  readonly onChange: (value: string) => void
  /** Whether the label stands beside the choice. */
  readonly isInline?: boolean
  readonly isLabelUnseen?: boolean
}

/** A choice of one value of a few. */
export function Choice({ label, value, of, onChange, isInline, isLabelUnseen }: ChoiceProps) {
  return (
    <label class={isInline ? 'inline' : undefined}>
      {isLabelUnseen ? <span class="unseen">{label}</span> : label}
      <select value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {(Array.isArray(of) ? of : Object.entries(of)).map(([key, words]) => (
          <option key={key} value={key}>
            {words}
          </option>
        ))}
      </select>
    </label>
  )
}
