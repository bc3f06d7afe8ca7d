import { visibleLine } from '../../../../../src/base/text.ts'
import { type Found, MOST_OF_A_KIND, searchNames } from '../api/search.ts'
import { useApis } from '../session/use-apis.ts'
import { Combobox } from './combobox.tsx'
import { KIND_NAMES } from './kind-names.ts'
import { Name } from './name.tsx'

interface Props {
  readonly label: string
  readonly placeholder?: string
  /** The kinds to search; empty for all. */
  readonly kinds: readonly string[]
  /** The text that stands in the field at first. */
  readonly text?: string | undefined
  readonly onPick: (found: Found) => void
}

/** A field that finds entities by name. */
export function Finder({ kinds, onPick, ...field }: Props) {
  const apis = useApis()
  return (
    <Combobox
      {...field}
      search={(text, signal) => searchNames(apis, text, kinds, signal)}
      most={MOST_OF_A_KIND}
      kindOf={({ kind }) => kind}
      keyOf={({ kind, id }) => `${kind} ${id}`}
      show={({ kind, name }) => (
        <>
          <span class="finder-name">
            <Name of={name} />
          </span>
          <span class={`kind kind-${kind}`}>{KIND_NAMES[kind] ?? kind}</span>
        </>
      )}
      onPick={(found) => {
        onPick(found)
        return visibleLine(found.name)
      }}
    />
  )
}
