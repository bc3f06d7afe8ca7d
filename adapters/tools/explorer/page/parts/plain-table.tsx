import type { ComponentChildren } from 'preact'

/** A column of a table of rows; a title that is not seen is for screen readers. */
export interface PlainColumn<T> {
  readonly title: string
  readonly as?: 'number' | 'narrow' | 'by'
  readonly isUnseen?: boolean
  readonly cell: (row: T) => ComponentChildren
}

interface Props<T> {
  readonly columns: readonly PlainColumn<T>[]
  readonly rows: readonly T[]
  readonly keyOf: (row: T) => string
  /** More classes: `stacks` has the cells of a row one below the other on a phone. */
  readonly class?: string
}

/** Rows that are only shown: neither sorted nor chosen. */
export function PlainTable<T>({ columns, rows, keyOf, class: more = '' }: Props<T>) {
  return (
    <table class={`list ${more}`} data-results>
      <thead>
        <tr>
          {columns.map(({ title, as, isUnseen }) => (
            <th key={title} scope="col" class={as}>
              {isUnseen ? <span class="unseen">{title}</span> : title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map(({ title, as, isUnseen, cell }) => (
              <td key={title} class={as} data-title={isUnseen ? undefined : title}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
