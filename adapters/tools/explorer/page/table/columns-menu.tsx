import { useEffect, useRef } from 'preact/hooks'
import { Choice, Toggle } from '../parts/fields.tsx'
import type { TableKind } from './table-kinds.ts'
import { showPart, type TablePlace } from './table-place.ts'

/** The column that leads to the entity. */
export function firstOf({ isNameless }: TableKind): { readonly title: string; readonly sort: string } {
  return isNameless ? { title: 'Id', sort: 'id' } : { title: 'Name', sort: 'name' }
}

/** Which columns a table has, and by which it is sorted: the heads of columns sort too, where there is room for them. */
export function ColumnsMenu({ shown: { table, columns, sort } }: { shown: TablePlace }) {
  const menu = useRef<HTMLDetailsElement>(null)
  const close = () => {
    if (menu.current) menu.current.open = false
  }
  useEffect(() => {
    const onPointerDown = ({ target }: PointerEvent) => {
      if (target instanceof Node && !menu.current?.contains(target)) close()
    }
    document.addEventListener('pointerdown', onPointerDown)
    return () => document.removeEventListener('pointerdown', onPointerDown)
  }, [])
  const all = Object.entries(table.columns)
  const choose = (key: string) => {
    const chosen = columns.includes(key) ? columns.filter((one) => one !== key) : [...columns, key]
    showPart({ columns: all.flatMap(([name]) => (chosen.includes(name) ? [name] : [])).join(' ') || 'none' })
  }
  const orders = [firstOf(table), ...all.map(([, column]) => column)].flatMap(({ title, sort: by }) =>
    by === undefined
      ? []
      : ([
          [by, title],
          [`${by} desc`, `${title}, last first`],
        ] as const),
  )
  return (
    <details ref={menu} class="menu" onKeyDown={({ key }) => key === 'Escape' && close()}>
      <summary class="button">Columns</summary>
      <div class="menu-body">
        <fieldset>
          <legend>Columns</legend>
          {all.map(([key, { title }]) => (
            <Toggle key={key} label={title} isOn={columns.includes(key)} onChange={() => choose(key)} />
          ))}
        </fieldset>
        <Choice label="Sort by" value={sort} of={orders} onChange={(order) => showPart({ sort: order })} />
      </div>
    </details>
  )
}
