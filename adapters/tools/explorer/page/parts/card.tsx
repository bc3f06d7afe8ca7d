import type { ComponentChildren } from 'preact'

interface Props {
  readonly title: string
  readonly class?: string
  readonly children: ComponentChildren
}

/** A part of a view with a title. */
export function Card({ title, class: more = '', children }: Props) {
  return (
    <section class={`card ${more}`} aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  )
}
