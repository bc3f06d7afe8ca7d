import { useState } from 'preact/hooks'
import type { Apis } from '../api/apis.ts'
import { EntityLink } from './entity-link.tsx'
import { Loaded } from './loaded.tsx'
import { numberText } from './number-text.ts'
import { Pager } from './pager.tsx'
import { useAnswer } from './use-answer.ts'
import { useSettled } from './use-settled.ts'

interface Props {
  readonly apis: Apis
  readonly kind: 'identities' | 'services' | 'edge-routers'
  /** As the access map has it. */
  readonly scope: string
}

/** The members of a scope, found by a part of the name and page by page. */
export function ScopeMembers({ apis, kind, scope }: Props) {
  const [text, setText] = useState('')
  const [cursors, setCursors] = useState<readonly string[]>([])
  const settled = useSettled(text)
  const cursor = cursors.at(-1)
  const answer = useAnswer(
    async (signal) => {
      const query = { kind, scope, text: settled, ...(cursor !== undefined && { cursor }) }
      return (await apis.portcullis.call('GET /access-map/members', { query, signal })).data
    },
    [apis, kind, scope, settled, cursor],
  )
  return (
    <>
      <input
        type="search"
        aria-label="Find a member"
        placeholder="Find by name"
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value)
          setCursors([])
        }}
      />
      <Loaded answer={answer} isEmpty={({ members }) => members.length === 0} empty="Nobody is called so.">
        {({ count, members, nextCursor }) => (
          <>
            <p class="muted">{numberText(count)} in all</p>
            <ul class="members">
              {members.map(({ id, name, status }) => (
                <li key={id}>
                  {status && <span class={`dot dot-${status}`} title={status} />}
                  <EntityLink kind={kind} id={id} name={name} />
                </li>
              ))}
            </ul>
            <Pager cursors={cursors} nextCursor={nextCursor} onTurn={setCursors} />
          </>
        )}
      </Loaded>
    </>
  )
}
