import { useState } from 'preact/hooks'
import type { Row } from '../api/read-json.ts'
import { isOfAny, isOfKind, isOfLogins, isOfNetwork } from '../events/network-event.ts'
import { hrefOf, place } from '../navigation/place.ts'
import { ActionProblem } from '../parts/action.tsx'
import { Name } from '../parts/entity-link.tsx'
import { OffsetPager } from '../parts/found-list.tsx'
import { Problem } from '../parts/loaded.tsx'
import { useAnswer, useSettled } from '../parts/use-answer.ts'
import { useIsNarrow } from '../parts/use-narrow.ts'
import { countedName } from '../parts/words.ts'
import { useApis } from '../session/session.ts'
import type { Target } from './bulk.ts'
import { BulkBar } from './bulk-bar.tsx'
import { ColumnsMenu, firstOf } from './columns-menu.tsx'
import { Export } from './export.tsx'
import { FilterBar } from './filter-bar.tsx'
import { PAGE_SIZE, readRows, targetOf } from './read-rows.ts'
import { showPart, tableMembers, tablePlace } from './table-place.ts'

interface Props {
  readonly kind: string
  /** The view in which an entity of the table opens. */
  readonly view: 'manage' | 'json'
  readonly selected?: string | undefined
  /** Changes with every change of an entity, so that the table is read again. */
  readonly version?: number
}

/** Up to this width of the window, in pixels, a table beside an open entity shows `MOST_TIGHT` columns beside the name. */
const TIGHT = 1400
const MOST_TIGHT = 3

/** The entities of a kind, page by page: narrowed, sorted and with columns as the address says, and acted on together. */
export function EntityTable({ kind, view, selected, version = 0 }: Props) {
  const apis = useApis()
  const shown = tablePlace(kind)
  const { table, terms, problem, sort, columns, offset } = shown
  const [targets, setTargets] = useState<ReadonlyMap<string, Target>>(new Map())
  const asked = useSettled(JSON.stringify([terms, sort, columns, offset]))
  const answer = useAnswer(
    (signal) => (problem === undefined ? readRows(apis, kind, tablePlace(kind), { offset }, signal) : undefined),
    [apis, kind, asked, version],
    isOfAny(isOfNetwork, isOfLogins, isOfKind(kind)),
  )
  const { rows = [], total = 0 } = (problem === undefined && (answer.data ?? answer.earlier)) || {}
  // Beside an open entity there is room for some columns; chosen columns stay, and scroll.
  const isTight = useIsNarrow(TIGHT) && selected !== undefined && !place.value.about.has('columns')
  const heads = (isTight ? columns.slice(0, MOST_TIGHT) : columns).flatMap((key) => table.columns[key] ?? [])
  const choose = (some: readonly Row[], isChosen: boolean) => {
    const next = new Map(targets)
    for (const row of some) isChosen ? next.set(row.id, targetOf(row)) : next.delete(row.id)
    setTargets(next)
  }
  const areAllChosen = rows.length > 0 && rows.every(({ id }) => targets.has(id))
  return (
    <section class="list-frame" aria-label="Found">
      <div class="table-bar">
        <FilterBar kind={kind} filters={table.filters} terms={terms} />
        {answer.data && <span class="muted found">{countedName(kind, total)}</span>}
        <ColumnsMenu shown={shown} />
        <Export kind={kind} shown={shown} targets={targets} total={total} />
      </div>
      <ActionProblem of={problem} />
      <Problem of={answer} />
      <BulkBar kind={kind} shown={shown} targets={targets} total={total} onTargets={setTargets} />
      {answer.data && rows.length === 0 && (
        <p class="empty">{terms.length === 0 ? 'None yet.' : 'Nothing fulfils these filters.'}</p>
      )}
      <div class="table-room">
        <table class="list stacks" aria-busy={answer.isLoading} hidden={rows.length === 0}>
          <thead>
            <tr>
              <th class="tick">
                <input
                  type="checkbox"
                  aria-label="Select this page"
                  checked={areAllChosen}
                  onChange={() => choose(rows, !areAllChosen)}
                />
              </th>
              {[firstOf(table), ...heads].map((column) => (
                <Head key={column.title} column={column} sort={sort} />
              ))}
            </tr>
          </thead>
          <tbody data-results>
            {rows.map((row) => (
              <tr key={row.id} class={row.id === selected ? 'is-selected' : undefined}>
                <td class="tick">
                  <input
                    type="checkbox"
                    aria-label={`Select ${row.name}`}
                    checked={targets.has(row.id)}
                    onChange={({ currentTarget }) => choose([row], currentTarget.checked)}
                  />
                </td>
                <td class="cell-name">
                  <a class="entity" href={hrefOf(view, { kind, id: row.id, ...(view === 'manage' && tableMembers()) })}>
                    <Name of={row.name} />
                  </a>
                </td>
                {heads.map((column) => (
                  <td key={column.title} class="muted" data-title={column.title}>
                    {column.show ? column.show(row) : column.text(row) && <Name of={column.text(row)} />}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <OffsetPager offset={offset} size={PAGE_SIZE} total={total} onTurn={(to) => showPart({ offset: String(to) })} />
    </section>
  )
}

/** The head of a column; a column that the API sorts is sorted by it, and the other way at the second time. */
function Head({ column: { title, sort: symbol }, sort }: { column: { title: string; sort?: string }; sort: string }) {
  const [by, direction = 'asc'] = sort.split(' ')
  const order = by !== symbol ? undefined : direction === 'desc' ? 'descending' : 'ascending'
  if (symbol === undefined) return <th scope="col">{title}</th>
  return (
    <th scope="col" aria-sort={order ?? 'none'}>
      <button
        type="button"
        class="head"
        onClick={() => showPart({ sort: order === 'ascending' ? `${symbol} desc` : symbol })}
      >
        {title}
        <span aria-hidden="true">{order === undefined ? '' : order === 'ascending' ? '↑' : '↓'}</span>
      </button>
    </th>
  )
}
