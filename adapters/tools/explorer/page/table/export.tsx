import { useRef, useState } from 'preact/hooks'
import type { Row } from '../api/read-json.ts'
import { ActionProblem, useAction } from '../parts/action.tsx'
import { numberText } from '../parts/words.ts'
import { useApis } from '../session/session.ts'
import { csvOf } from './csv.ts'
import { readAllRows } from './read-rows.ts'
import type { TableProps } from './table-place.ts'

/** A file holds as many entities at most. */
const MOST = 100_000

/** Saves the chosen entities, or all that are found, as a table with the columns that are shown. */
export function Export({ kind, shown, targets, total }: TableProps) {
  const apis = useApis()
  const action = useAction()
  const [count, setCount] = useState(0)
  const asked = useRef<AbortController>(undefined)
  const run = () => {
    const controller = new AbortController()
    asked.current = controller
    setCount(0)
    void action.run('The file is made.', async () => {
      const columns = shown.columns.flatMap((key) => shown.table.columns[key] ?? [])
      // Entities without a name stand there by their id alone.
      const named = shown.table.isNameless ? [] : ['Name']
      const parts = [csvOf([['Id', ...named, ...columns.map(({ title }) => title)]])]
      const line = (row: Row) => [row.id, ...named.map(() => row.name), ...columns.map(({ text }) => text(row))]
      let done = 0
      const onRows = (rows: readonly Row[]) => {
        const wanted = targets.size === 0 ? rows : rows.filter(({ id }) => targets.has(id))
        parts.push(csvOf(wanted.map(line)))
        done += wanted.length
        setCount(done)
      }
      await readAllRows(apis, { kind, shown }, MOST, onRows, controller.signal)
      save(`${kind}.csv`, parts.join(''))
    })
  }
  const isStopped = asked.current?.signal.aborted === true
  return (
    <span class="export">
      <button type="button" disabled={action.isBusy || total === 0 || shown.problem !== undefined} onClick={run}>
        {action.isBusy ? `${numberText(count)} read…` : targets.size > 0 ? 'Export selected as CSV' : 'Export as CSV'}
      </button>
      {action.isBusy && (
        <button type="button" onClick={() => asked.current?.abort()}>
          Stop
        </button>
      )}
      <ActionProblem of={isStopped ? undefined : action.problem} />
    </span>
  )
}

/** Has the browser save a text as a file. The mark at its beginning says to programs of tables that it is UTF-8. */
function save(name: string, text: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob(['\ufeff', text], { type: 'text/csv;charset=utf-8' }))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
