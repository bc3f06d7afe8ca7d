import { useEffect, useRef, useState } from 'preact/hooks'
import { visibleLine } from '../../../../../src/base/text.ts'
import type { Apis } from '../api/apis.ts'
import { hrefOf } from '../navigation/place.ts'
import { useApis } from '../session/session.ts'
import { Combobox, type Found, MOST_OF_A_KIND, type Options, searchNames } from './combobox.tsx'
import { hrefOfEntity, Name } from './entity-link.tsx'
import { useIsNarrow } from './use-narrow.ts'
import { KIND_NAMES } from './words.ts'

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

/** Something that can be gone to. */
interface Target {
  readonly key: string
  readonly name: string
  readonly what: string
  readonly kind: string
  readonly href: string
}

/** Finds anything by name, from anywhere: the key / leads here, Enter opens the choice. */
export function SearchBox() {
  const apis = useApis()
  const box = useRef<HTMLDivElement>(null)
  const [round, setRound] = useState(0)
  const isNarrow = useIsNarrow()
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)
      const isAsked = (event.key === '/' && !isTyping) || (event.key === 'k' && (event.ctrlKey || event.metaKey))
      if (!isAsked) return
      event.preventDefault()
      box.current?.querySelector('input')?.focus()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  return (
    <div class="search" ref={box}>
      <Combobox
        key={round}
        label="Search"
        placeholder={isNarrow ? 'Search' : 'Search ( / or Ctrl K )'}
        search={(text, signal) => searchEverything(apis, text, signal)}
        most={MOST_OF_EACH}
        kindOf={({ kind, name }) => (name.startsWith('#') ? '#' : kind)}
        keyOf={({ key }) => key}
        show={({ name, what, kind }) => (
          <>
            <span class="finder-name">
              <Name of={name} />
            </span>
            <span class={`kind kind-${kind}`}>{what}</span>
          </>
        )}
        onPick={({ href }) => {
          location.hash = href
          setRound(round + 1)
          return ''
        }}
      />
    </div>
  )
}

const MOST_OF_EACH = 6

async function searchEverything({ portcullis }: Apis, q: string, signal: AbortSignal): Promise<Options<Target>> {
  const { data } = await portcullis.call('GET /search', { query: { q, limit: String(MOST_OF_EACH) }, signal })
  const attributes = data.roleAttributes.map(({ kind, roleAttribute, count }) => ({
    key: `# ${kind} ${roleAttribute}`,
    name: `#${roleAttribute}`,
    what: `${count} ${kind.replaceAll('-', ' ')}`,
    kind,
    href: hrefOf('attribute', { kind, of: roleAttribute }),
  }))
  const entities = data.entities.map(({ kind, id, name }) => ({
    key: `${kind} ${id}`,
    name,
    what: KIND_NAMES[kind] ?? kind,
    kind,
    href: hrefOfEntity(kind, id),
  }))
  return { options: [...entities, ...attributes], isPartial: data.isPartial }
}
