import { useEffect, useState } from 'preact/hooks'
import type { Apis } from '../api/apis.ts'
import type { Group } from '../api/graph-rows.ts'
import { hrefOf } from '../navigation/place.ts'
import { useAnswer } from '../parts/use-answer.ts'
import { useSettled } from '../parts/use-settled.ts'
import { KIND_WORDS } from './words.ts'

interface Member {
  readonly id: string
  readonly name: string
  readonly status: 'online' | 'offline' | 'unknown' | null
}

/** The members of a group, found by a part of the name and page by page. */
export function Members({ apis, group }: { apis: Apis; group: Group }) {
  const [text, setText] = useState('')
  const [earlier, setEarlier] = useState<readonly Member[]>([])
  const [cursor, setCursor] = useState<string>()
  const settled = useSettled(text)
  useEffect(() => {
    setEarlier([])
    setCursor(undefined)
  }, [group.key, settled])
  const answer = useAnswer(
    (signal) => {
      const query = { group: group.key, text: settled, ...(cursor && { cursor }) }
      return apis.portcullis.call('GET /graph/members', { query, signal }).then(({ data }) => data)
    },
    [apis, group.key, settled, cursor],
  )
  const page = answer.data ?? (cursor === undefined ? answer.earlier : undefined)
  const more = () => {
    if (!page?.nextCursor) return
    setEarlier([...earlier, ...page.members])
    setCursor(page.nextCursor)
  }
  const seen = new Set(earlier.map(({ id }) => id))
  const members = [...earlier, ...(page?.members ?? []).filter(({ id }) => !seen.has(id))]
  return (
    <section>
      <h3>Members</h3>
      <label class="unseen" for="member-text">
        Find a member
      </label>
      <input
        id="member-text"
        type="search"
        placeholder={`Find ${KIND_WORDS[group.kind][1]} by name`}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {answer.problem && <p class="problem">{answer.problem}</p>}
      <ul class="members" aria-busy={answer.isLoading}>
        {members.map(({ id, name, status }) => (
          <li key={id}>
            {status && <span class={`dot dot-${status}`} title={status} />}
            <a href={hrefOfMember(group, id)}>{name}</a>
          </li>
        ))}
      </ul>
      {page && members.length === 0 && !answer.isLoading && <p class="empty">Nothing is called so.</p>}
      {page?.nextCursor && (
        <button type="button" disabled={answer.isLoading} onClick={more}>
          Show more
        </button>
      )}
    </section>
  )
}

function hrefOfMember({ kind }: Group, id: string): string {
  if (kind === 'identities') return hrefOf('why', { identity: id })
  if (kind === 'services') return hrefOf('why', { service: id })
  return hrefOf('json', { kind, id })
}
