import { Name } from './name.tsx'

interface Props {
  readonly label: string
  readonly chips: readonly { readonly value: string; readonly name: string; readonly isWrong?: boolean }[]
  /** The words of the button that takes a chip away. */
  readonly take: (name: string) => string
  readonly onTake: (place: number) => void
}

/** Entries of a list as chips, each with a button that takes it away. */
export function ChipList({ label, chips, take, onTake }: Props) {
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
