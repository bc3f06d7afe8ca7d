import { useState } from 'preact/hooks'
import { readList } from '../api/read-json.ts'
import { useApis } from '../session/use-apis.ts'
import { EntityLink } from './entity-link.tsx'
import { Loaded } from './loaded.tsx'
import { OffsetPager } from './pager.tsx'
import { useAnswer } from './use-answer.ts'
import { useSettled } from './use-settled.ts'

interface Props {
  readonly kind: string
  /** The list of the management API, as `services/ID/edge-routers`; all entities of the kind unless given. */
  readonly of?: string
  readonly empty?: string
  /** A condition in the filter language that each has to fulfil. */
  readonly filter?: string
}

const PAGE_SIZE = 20

/** The entities of a list of the management API, found by a part of the name and page by page. */
export function NameList({ kind, of = kind, empty = 'None.', filter = '' }: Props) {
  const apis = useApis()
  const [text, setText] = useState('')
  const [offset, setOffset] = useState(0)
  const settled = useSettled(text).trim()
  const answer = useAnswer(
    (signal) => {
      const conditions = [filter, settled && `name icontains ${JSON.stringify(settled)}`].filter(Boolean)
      const query = { filter: conditions.join(' and '), sort: 'name', limit: PAGE_SIZE, offset }
      return readList(apis, of, query, signal)
    },
    [apis, of, filter, settled, offset],
  )
  const total = (answer.data ?? answer.earlier)?.total ?? 0
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
        isEmpty={({ rows }) => rows.length === 0}
        empty={settled === '' ? empty : 'Nothing is called so.'}
      >
        {({ rows }) => (
          <ul class="plain names">
            {rows.map(({ id, name }) => (
              <li key={id}>
                <EntityLink kind={kind} id={id} name={name} />
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      <OffsetPager offset={offset} size={PAGE_SIZE} total={total} onTurn={setOffset} />
    </>
  )
}
