interface Props {
  readonly label: string
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
  readonly class?: string
}

/** Something that holds or does not. */
export function Toggle({ label, isOn, onChange, class: more = '' }: Props) {
  return (
    <label class={`toggle ${more}`}>
      <input type="checkbox" checked={isOn} onChange={({ currentTarget }) => onChange(currentTarget.checked)} />
      {label}
    </label>
  )
}
