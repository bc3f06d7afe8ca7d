import type { Apis } from '../api/apis.ts'
import { useApis } from '../session/session.ts'
import { attributeChip, type Chip } from './chip.ts'
import { Combobox, MOST_OF_A_KIND, type Option, type Options } from './combobox.tsx'
import { Name } from './entity-link.tsx'

interface Props {
  readonly label: string
  readonly chips: readonly Chip[]
  /** Whose role attributes are offered. */
  readonly kind: string
  /** Whether entries belong to a role list (`#attribute`, `@entity`), or are role attributes. */
  readonly of: 'roles' | 'attributes'
  readonly onChange: (chips: readonly Chip[]) => void
}

/** A field for a list of role attributes, or for a role list of a policy. */
export function ChipsField({ label, chips, kind, of, onChange }: Props) {
  const apis = useApis()
  const add = (chip: Chip) => {
    if (chip.value !== '' && chips.every(({ value }) => value !== chip.value)) onChange([...chips, chip])
    return ''
  }
  const typedChip = (text: string): Chip => {
    if (of === 'attributes') return attributeChip(text.replace(/^#/, ''))
    const role = /^[#@]/.test(text) ? text : `#${text}`
    return { value: role, name: role }
  }
  return (
    <div class="chips-field">
      <Combobox
        label={label}
        placeholder={of === 'roles' ? '#attribute, #all or a name' : 'Add a role attribute'}
        search={(text, signal) => searchChips(apis, text, kind, of, signal)}
        onPick={({ id, name }) => add({ value: id, name })}
        onText={(text) => (text === '' ? '' : add(typedChip(text)))}
      />
      <ChipList
        label={label}
        chips={chips}
        take={(name) => `Take ${name} away`}
        onTake={(place) => onChange(chips.toSpliced(place, 1))}
      />
    </div>
  )
}

async function searchChips(
  { portcullis }: Apis,
  text: string,
  kind: string,
  of: 'roles' | 'attributes',
  signal: AbortSignal,
): Promise<Options<Option>> {
  const q = of === 'attributes' ? `#${text.replace(/^#/, '')}` : text.replace(/^@/, '')
  const { data } = await portcullis.call('GET /search', { query: { q, limit: String(MOST_OF_A_KIND) }, signal })
  const isOfKind = (found: { readonly kind: string }) => found.kind === kind
  const attributes = data.roleAttributes.filter(isOfKind).map(({ roleAttribute }) => ({
    kind: '#',
    id: of === 'attributes' ? roleAttribute : `#${roleAttribute}`,
    name: `#${roleAttribute}`,
    words: '',
  }))
  const { isPartial } = data
  if (of === 'attributes') return { options: attributes, isPartial }
  const all = '#all'.includes(text.toLowerCase()) ? [{ kind: '#', id: '#all', name: '#all', words: '' }] : []
  const entities = data.entities.filter(isOfKind).map(({ id, name }) => {
    return { kind: '@', id: `@${id}`, name: `@${name}`, words: '' }
  })
  return { options: [...all, ...attributes, ...entities], isPartial }
}

interface ListProps {
  readonly label: string
  readonly chips: readonly { readonly value: string; readonly name: string; readonly isWrong?: boolean }[]
  /** The words of the button that takes a chip away. */
  readonly take: (name: string) => string
  readonly onTake: (place: number) => void
}

/** Entries of a list as chips, each with a button that takes it away. */
export function ChipList({ label, chips, take, onTake }: ListProps) {
  return (
    <ul class="chips" aria-label={label}>
      {chips.map(({ value, name, isWrong }, place) => (
        <li key={value} class={isWrong ? 'chip chip-wrong' : 'chip'}>
          <Name of={name} />
          <button type="button" aria-label={take(name)} onClick={() => onTake(place)}>
            ✕
          </button>
        </li>
      ))}
    </ul>
  )
}
