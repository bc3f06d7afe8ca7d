import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { EntityLink } from './entity-link.tsx'
import { Loaded } from './loaded.tsx'
import { OffsetPager } from './pager.tsx'
import { useAnswer } from './use-answer.ts'
import { useSettled } from './use-settled.ts'

/** An entity in a list, with the text beside its name. */
export interface Listed {
  readonly id: string
  readonly name: string
  readonly note?: ComponentChildren
}

/** The part of a list of the management API that is wanted. */
export interface ListPage {
  readonly query: {
    readonly filter?: string
    readonly sort: string
    readonly limit: number
    readonly offset: number
  }
  readonly signal: AbortSignal
}

/** An answer of a list of the management API. */
interface ListAnswer {
  readonly data: readonly Listed[]
  readonly meta: { readonly pagination: { readonly totalCount: number } }
}

interface Props {
  readonly kind: string
  readonly empty: string
  readonly read: (page: ListPage) => Promise<ListAnswer>
  /** The subjects of the list: it is read anew when one of them changes. */
  readonly reasons: readonly unknown[]
  /** A condition in the filter language that each has to fulfil. */
  readonly filter?: string
}

const PAGE_SIZE = 20

/** The entities of a list of the management API, found by a part of the name and page by page. */
export function NameList({ kind, empty, read, reasons, filter }: Props) {
  const [text, setText] = useState('')
  const [offset, setOffset] = useState(0)
  const settled = useSettled(text).trim()
  const answer = useAnswer(
    (signal) => {
      const conditions = [
        ...(filter === undefined ? [] : [filter]),
        ...(settled === '' ? [] : [`name icontains ${JSON.stringify(settled)}`]),
      ]
      const query = { sort: 'name', limit: PAGE_SIZE, offset }
      return read({ query: { ...query, ...(conditions.length > 0 && { filter: conditions.join(' and ') }) }, signal })
    },
    [...reasons, filter, settled, offset],
  )
  const total = (answer.data ?? answer.earlier)?.meta.pagination.totalCount ?? 0
  const isSearched = text !== '' || total > PAGE_SIZE
  return (
    <>
      {isSearched && (
        <input
          type="search"
          aria-label={`Find among the ${kind.replaceAll('-', ' ')}`}
          placeholder="Find by name"
          value={text}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value)
            setOffset(0)
          }}
        />
      )}
      <Loaded
        answer={answer}
        isEmpty={({ data }) => data.length === 0}
        empty={settled === '' ? empty : 'Nothing is called so.'}
      >
        {({ data }) => (
          <ul class="plain">
            {data.map(({ id, name, note }) => (
              <li key={id}>
                <EntityLink kind={kind} id={id} name={name} /> {note && <span class="muted">{note}</span>}
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      <OffsetPager offset={offset} size={PAGE_SIZE} total={total} onTurn={setOffset} />
    </>
  )
}
