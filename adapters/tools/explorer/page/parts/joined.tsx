import type { ComponentChildren } from 'preact'

interface Props<T> {
  readonly of: readonly T[]
  readonly by?: string
  readonly children: (one: T) => ComponentChildren
}

/** Some entities in a line, with a mark between two of them. */
export function Joined<T extends { readonly id: string }>({ of, by = ', ', children }: Props<T>) {
  return of.map((one, place) => (
    <span key={one.id}>
      {children(one)}
      {place < of.length - 1 && by}
    </span>
  ))
}
