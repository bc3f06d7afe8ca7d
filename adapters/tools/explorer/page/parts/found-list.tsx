import { useState } from 'preact/hooks'
import { readList } from '../api/read-json.ts'
import { useApis } from '../session/session.ts'
import { EntityLink } from './entity-link.tsx'
import { Loaded } from './loaded.tsx'
import { useAnswer, useSettled } from './use-answer.ts'
import { numberText } from './words.ts'

interface OffsetProps {
  readonly offset: number
  readonly size: number
  readonly total: number
  readonly onTurn: (offset: number) => void
}

/** The buttons between the pages of a counted list; nothing for a single page. */
export function OffsetPager({ offset, size, total, onTurn }: OffsetProps) {
  if (total <= size) return null
  return (
    <p class="pager">
      <button type="button" disabled={offset === 0} onClick={() => onTurn(Math.max(0, offset - size))}>
        Back
      </button>
      <span class="muted">
        {numberText(offset + 1)}–{numberText(Math.min(offset + size, total))} of {numberText(total)}
      </span>
      <button type="button" disabled={offset + size >= total} onClick={() => onTurn(offset + size)}>
        Next
      </button>
    </p>
  )
}

interface CursorProps {
  /** The cursors of the pages up to this page; the last cursor began this page. */
  readonly cursors: readonly string[]
  readonly nextCursor: string | null
  readonly onTurn: (cursors: readonly string[]) => void
}

/** The buttons between the pages of a list. */
export function Pager({ cursors, nextCursor, onTurn }: CursorProps) {
  return (
    <p class="pager">
      {cursors.length > 0 && (
        <button type="button" onClick={() => onTurn(cursors.slice(0, -1))}>
          Back
        </button>
      )}
      {nextCursor !== null && (
        <button type="button" onClick={() => onTurn([...cursors, nextCursor])}>
          Next
        </button>
      )}
    </p>
  )
}

interface SearchProps {
  readonly label: string
  readonly placeholder?: string
  readonly text: string
  readonly onText: (text: string) => void
}

function SearchField({ label, placeholder = label, text, onText }: SearchProps) {
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={placeholder}
      value={text}
      onInput={({ currentTarget }) => onText(currentTarget.value)}
    />
  )
}

/** The wanted part of a list: by a part of the name, and from a page on. */
interface Wanted {
  readonly text: string
  readonly cursor?: string
}

/** A list that is found by a part of the name and read page by page: its answer, the field above it, and the buttons below it. */
export function useFound<T extends { readonly nextCursor: string | null }>(
  label: string,
  read: (wanted: Wanted, signal: AbortSignal) => Promise<{ readonly data: T }>,
  reasons: readonly unknown[],
) {
  const [text, setText] = useState('')
  const [cursors, setCursors] = useState<readonly string[]>([])
  const settled = useSettled(text)
  const cursor = cursors.at(-1)
  const answer = useAnswer(
    async (signal) => (await read({ text: settled, ...(cursor !== undefined && { cursor }) }, signal)).data,
    [...reasons, settled, cursor],
  )
  const onText = (typed: string) => {
    setText(typed)
    setCursors([])
  }
  const field = <SearchField label={label} text={text} onText={onText} />
  const pager = <Pager cursors={cursors} nextCursor={answer.data?.nextCursor ?? null} onTurn={setCursors} />
  return { answer, field, pager }
}

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
  const label = `Find among the ${kind.replaceAll('-', ' ')}`
  const onText = (typed: string) => {
    setText(typed)
    setOffset(0)
  }
  return (
    <>
      {(text !== '' || total > PAGE_SIZE) && (
        <SearchField label={label} placeholder="Find by name" text={text} onText={onText} />
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

interface MembersProps {
  readonly kind: 'identities' | 'services' | 'edge-routers'
  /** As the access map has it. */
  readonly scope: string
}

/** The members of a scope, found by a part of the name and page by page. */
export function ScopeMembers({ kind, scope }: MembersProps) {
  const apis = useApis()
  const { answer, field, pager } = useFound(
    'Find a member',
    (wanted, signal) => apis.portcullis.call('GET /access-map/members', { query: { kind, scope, ...wanted }, signal }),
    [apis, kind, scope],
  )
  return (
    <>
      {field}
      <Loaded answer={answer} isEmpty={({ members }) => members.length === 0} empty="Nobody is called so.">
        {({ count, members }) => (
          <>
            <p class="muted">{numberText(count)} in all</p>
            <ul class="plain members">
              {members.map(({ id, name, status }) => (
                <li key={id}>
                  {status && <span class={`dot dot-${status}`} title={status} />}
                  <EntityLink kind={kind} id={id} name={name} />
                </li>
              ))}
            </ul>
            {pager}
          </>
        )}
      </Loaded>
    </>
  )
}
