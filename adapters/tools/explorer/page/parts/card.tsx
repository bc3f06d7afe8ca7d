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

interface CountProps {
  readonly label: string
  /** The class of its tone, as `count-bad`; none for a plain number. */
  readonly tone?: string
  readonly children: ComponentChildren
}

/** A number with its label, in a list of terms. */
export function Count({ label, tone = '', children }: CountProps) {
  return (
    <div class={`count ${tone}`}>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  )
}
