import { useState } from 'preact/hooks'
import type { Apis } from '../api/apis.ts'
import { hrefOf } from '../navigation/place.ts'
import { Name } from '../parts/name.tsx'
import { numberText } from '../parts/number-text.ts'
import { useAnswer } from '../parts/use-answer.ts'
import { useSettled } from '../parts/use-settled.ts'
import type { ManagedKind } from './kinds.ts'
import { PAGE_SIZE, readPage } from './read-page.ts'

interface Props {
  readonly apis: Apis
  readonly kind: ManagedKind
  readonly selected: string | undefined
  /** Changes whenever something was changed, so that the list is read again. */
  readonly version: number
}

/** The entities of a kind by name, page by page. */
export function EntityList({ apis, kind, selected, version }: Props) {
  const [text, setText] = useState('')
  const [offset, setOffset] = useState(0)
  const settled = useSettled(text)
  const answer = useAnswer(
    (signal) => readPage(apis, kind, settled, offset, signal),
    [apis, kind, settled, offset, version],
  )
  const { rows = [], total = 0 } = answer.data ?? answer.earlier ?? {}
  const onText = (value: string) => {
    setText(value)
    setOffset(0)
  }
  return (
    <section class="list-frame" aria-label="Found">
      <input
        type="search"
        aria-label="Find by name"
        placeholder="Find by name"
        value={text}
        onInput={({ currentTarget }) => onText(currentTarget.value)}
      />
      {answer.problem && <p class="problem">{answer.problem}</p>}
      {answer.data && rows.length === 0 && (
        <p class="empty">{settled === '' ? 'None yet.' : 'Nothing is called so.'}</p>
      )}
      <table class="list" aria-busy={answer.isLoading} hidden={rows.length === 0}>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">What</th>
            <th scope="col">Roles</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ id, name, notes, roles }) => (
            <tr key={id} class={id === selected ? 'is-selected' : undefined}>
              <td>
                <a href={hrefOf('manage', { kind, id })}>
                  <Name of={name} />
                </a>
              </td>
              <td class="muted">{notes.join(' · ')}</td>
              <td class="muted">{roles.join(' ')}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {total > PAGE_SIZE && (
        <p class="pager">
          <button type="button" disabled={offset === 0} onClick={() => setOffset(Math.max(0, offset - PAGE_SIZE))}>
            Before
          </button>
          <span class="muted">
            {offset + 1}–{Math.min(offset + PAGE_SIZE, total)} of {numberText(total)}
          </span>
          <button type="button" disabled={offset + PAGE_SIZE >= total} onClick={() => setOffset(offset + PAGE_SIZE)}>
            Next
          </button>
        </p>
      )}
    </section>
  )
}
