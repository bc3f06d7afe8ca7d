import { useState } from 'preact/hooks'
import type { Apis } from '../api/apis.ts'
import { isOfAny, isOfLogins, isOfNetwork } from '../events/network-event.ts'
import { hrefOf } from '../navigation/place.ts'
import { RoleLinks } from '../parts/attribute-link.tsx'
import { Problem } from '../parts/loaded.tsx'
import { Name } from '../parts/name.tsx'
import { OffsetPager } from '../parts/pager.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { useSettled } from '../parts/use-settled.ts'
import type { ManagedKind } from './kinds.ts'
import { PAGE_SIZE, ROLE_TITLES, readPage } from './read-page.ts'

/** A cell shows as many chips; the others stand on the page of the entity. */
const MOST_CHIPS = 4

interface Props {
  readonly apis: Apis
  readonly kind: ManagedKind
  readonly selected: string | undefined
  /** Changes with every change of an entity, so that the list is read again. */
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
    isOfAny(isOfNetwork, isOfLogins),
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
      <Problem of={answer} />
      {answer.data && rows.length === 0 && (
        <p class="empty">{settled === '' ? 'None yet.' : 'Nothing is called so.'}</p>
      )}
      <table class="list" data-results aria-busy={answer.isLoading} hidden={rows.length === 0}>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">What</th>
            {ROLE_TITLES[kind].map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ id, name, notes, roles }) => (
            <tr key={id} class={id === selected ? 'is-selected' : undefined}>
              <td>
                <a class="entity" href={hrefOf('manage', { kind, id })}>
                  <Name of={name} />
                </a>
              </td>
              <td class="muted">{notes.join(' · ')}</td>
              {roles.map((list) => (
                <td key={list.kind} class="muted">
                  {list.entries.length > 0 && (
                    <span class="chips">
                      <RoleLinks kind={list.kind} roles={list.entries} most={MOST_CHIPS} />
                    </span>
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <OffsetPager offset={offset} size={PAGE_SIZE} total={total} onTurn={setOffset} />
    </section>
  )
}
