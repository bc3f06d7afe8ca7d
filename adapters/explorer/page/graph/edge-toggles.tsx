import type { LinkType } from '../api/graph-rows.ts'

const LABELS: readonly { readonly type: LinkType; readonly label: string }[] = [
  { type: 'Dial', label: 'Dial' },
  { type: 'Bind', label: 'Bind' },
  { type: 'edge-router', label: 'Identity to router' },
  { type: 'service-edge-router', label: 'Service to router' },
]

interface Props {
  readonly hidden: ReadonlySet<LinkType>
  readonly onChange: (hidden: ReadonlySet<LinkType>) => void
}

/** Which lines are drawn; the legend of their colours at the same time. */
export function EdgeToggles({ hidden, onChange }: Props) {
  const toggle = (type: LinkType) => {
    const others = [...hidden].filter((one) => one !== type)
    onChange(new Set(hidden.has(type) ? others : [...others, type]))
  }
  return (
    <fieldset class="toggles">
      <legend class="unseen">Lines that are drawn</legend>
      {LABELS.map(({ type, label }) => (
        <label key={type} class={`toggle toggle-${type.toLowerCase()}`}>
          <input type="checkbox" checked={!hidden.has(type)} onChange={() => toggle(type)} />
          {label}
        </label>
      ))}
    </fieldset>
  )
}
