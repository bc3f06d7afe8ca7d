import type { ComponentChildren } from 'preact'
import { hrefOf } from '../navigation/place.ts'
import { AttributeLink } from '../parts/attribute-link.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Name } from '../parts/name.tsx'

interface Props {
  /** The kind in words, as `service policy`. */
  readonly one: string
  readonly kind: string
  readonly id: string
  readonly name: string
  readonly state?: ComponentChildren
  readonly roleAttributes?: readonly string[] | null
  /** Ways that lead on from it. */
  readonly links?: readonly { readonly label: string; readonly href: string }[]
  readonly children: ComponentChildren
}

/** A page about one entity: the name, the state and the role attributes, then what there is to say of it. */
export function EntityPage({ one, kind, id, name, state, roleAttributes, links = [], children }: Props) {
  return (
    <section class="entity-page">
      <header class="entity-head">
        <div>
          <p class={`kind kind-${kind}`}>{one}</p>
          <h1>
            <Name of={name} />
          </h1>
          {state && <p class="muted">{state}</p>}
          {roleAttributes && (
            <p class="chips">
              {roleAttributes.length === 0 && <span class="muted">no role attribute</span>}
              {roleAttributes.map((attribute) => (
                <AttributeLink key={attribute} kind={kind} attribute={attribute} />
              ))}
            </p>
          )}
        </div>
        <div class="actions">
          {links.map(({ label, href }) => (
            <a key={label} class="button" href={href}>
              {label}
            </a>
          ))}
          <a class="button" href={hrefOf('json', { kind, id })}>
            JSON
          </a>
          <CopyButton text={location.href} label="Copy link" />
        </div>
      </header>
      {children}
    </section>
  )
}

/** A part of the page of an entity. */
export function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  )
}
