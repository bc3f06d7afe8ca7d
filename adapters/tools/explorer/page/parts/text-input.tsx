import type { PartialInputHTMLAttributes } from 'preact'

interface Props extends Omit<PartialInputHTMLAttributes<HTMLInputElement>, 'label' | 'onChange'> {
  readonly label: string
  readonly onChange: (value: string) => void
}

/** A field for a text, below its label. */
export function TextInput({ label, onChange, ...input }: Props) {
  // An input of an unknown type is of no variant that the attributes are declared by.
  const attributes: object = input
  return (
    <label>
      {label}
      <input {...attributes} onInput={({ currentTarget }) => onChange(currentTarget.value)} />
    </label>
  )
}
