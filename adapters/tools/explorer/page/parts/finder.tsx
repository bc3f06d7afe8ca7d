import { useEffect, useRef, useState } from 'preact/hooks'
import { visibleLine } from '../../../../../src/base/text.ts'
import type { Apis } from '../api/apis.ts'
import { hrefOf } from '../navigation/place.ts'
import { useApis } from '../session/session.ts'
import { Combobox, MOST_OF_A_KIND, type Option, type Options } from './combobox.tsx'
import { hrefOfEntity } from './entity-link.tsx'
import { useIsNarrow } from './use-narrow.ts'

interface Props {
  readonly label: string
  readonly placeholder?: string
  /** The kinds to search; empty for all. */
  readonly kinds: readonly string[]
  /** The text that stands in the field at first. */
  readonly text?: string | undefined
  readonly onPick: (found: Option) => void
}

/** A field that finds entities by name. */
export function Finder({ kinds, onPick, ...field }: Props) {
  const apis = useApis()
  return (
    <Combobox
      {...field}
      search={async (text, signal) => {
        const query = { q: text, limit: String(MOST_OF_A_KIND) }
        const { entities, isPartial } = (await apis.portcullis.call('GET /search', { query, signal })).data
        const options = kinds.length === 0 ? entities : entities.filter(({ kind }) => kinds.includes(kind))
        return { options, isPartial }
      }}
      onPick={(found) => {
        onPick(found)
        return visibleLine(found.name)
      }}
    />
  )
}

/** Something that can be gone to. */
interface Target extends Option {
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
    kind,
    group: '#',
    id: `#${roleAttribute}`,
    name: `#${roleAttribute}`,
    words: `${count} ${kind.replaceAll('-', ' ')}`,
    href: hrefOf('attribute', { kind, of: roleAttribute }),
  }))
  const entities = data.entities.map(({ kind, id, name }) => ({ kind, id, name, href: hrefOfEntity(kind, id) }))
  return { options: [...entities, ...attributes], isPartial: data.isPartial }
}
