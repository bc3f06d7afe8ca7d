import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { quoted, visibleLine } from '../../../../../src/base/text.ts'
import { hrefOf } from '../navigation/place.ts'
import { numberText, timeText, wholeText } from './words.ts'

/**
 * A given name in a safe form: it does not change the direction of the text around it, and invisible characters are written out, so that no
 * two names look alike by them.
 */
export function Name({ of }: { of: string }) {
  return <bdi>{visibleLine(of)}</bdi>
}

interface Props {
  /** The resource, for example `identities`. */
  readonly kind: string
  readonly id: string
  /** Null when the entity is gone, or the user may not see its name. */
  readonly name: string | null | undefined
}

/** The name of an entity, which leads to its page. */
export function EntityLink({ kind, id, name }: Props) {
  return (
    <a class={`entity entity-${kind}`} href={hrefOfEntity(kind, id)}>
      <Name of={name || id} />
    </a>
  )
}

/** The views that show one entity of a kind. */
export const VIEW_OF: Readonly<Record<string, string>> = {
  identities: 'identity',
  services: 'service',
  'edge-routers': 'router',
  'service-policies': 'policy',
  'edge-router-policies': 'edge-router-policy',
  'service-edge-router-policies': 'service-edge-router-policy',
  'posture-checks': 'check',
}

/** The address of an entity's page; of its JSON for kinds without a page. */
export function hrefOfEntity(kind: string, id: string): string {
  const view = VIEW_OF[kind]
  if (view === undefined) return hrefOf('json', { kind, id })
  return hrefOf(view, { id })
}

/** A role attribute of a kind of entity, which leads to its page. */
export function AttributeLink({ kind, attribute }: { kind: string; attribute: string }) {
  return (
    <a class="chip" href={hrefOf('attribute', { kind, of: attribute })}>
      <Name of={`#${attribute}`} />
    </a>
  )
}

/** An entry of a role list, and the name behind it. */
export interface Role {
  readonly role: string
  readonly name: string
}

interface RolesProps {
  /** The kind that the list selects from. */
  readonly kind: string
  readonly roles: readonly Role[]
  /** As many are shown; all unless given. */
  readonly most?: number
}

/** The entries of a role list: role attributes and entities, each with the way to its page. */
export function RoleLinks({ kind, roles, most = Number.POSITIVE_INFINITY }: RolesProps) {
  const further = roles.slice(most)
  if (roles.length === 0) return <span class="muted">none</span>
  return (
    <>
      {roles.slice(0, most).map(({ role, name }) => {
        if (role === '#all') return <span class="chip">#all</span>
        if (role.startsWith('#')) return <AttributeLink key={role} kind={kind} attribute={role.slice(1)} />
        return (
          <a key={role} class="chip" href={hrefOfEntity(kind, role.slice(1))}>
            <Name of={name} />
          </a>
        )
      })}
      {further.length > 0 && (
        <span class="chip" title={further.map(({ name }) => visibleLine(name)).join(', ')}>
          +{numberText(further.length)}
        </span>
      )}
    </>
  )
}

interface JoinedProps<T> {
  readonly of: readonly T[]
  readonly by?: string
  readonly children: (one: T) => ComponentChildren
}

/** Some entities in a line, with a mark between two of them. */
export function Joined<T extends { readonly id: string }>({ of, by = ', ', children }: JoinedProps<T>) {
  return of.map((one, place) => (
    <span key={one.id}>
      {children(one)}
      {place < of.length - 1 && by}
    </span>
  ))
}

const MOST_NAMED = 4

interface NamesProps {
  /** The kind of entities that do not name theirs. */
  readonly kind?: string
  readonly of: readonly { readonly kind?: string; readonly id: string; readonly name: string }[]
}

/** Names that lead to their pages: a few of them, and the number of the others, which opens. */
export function Names({ kind = '', of }: NamesProps) {
  const [isOpen, setOpen] = useState(false)
  const more = of.length - MOST_NAMED
  const shown = isOpen || more <= 1 ? of : of.slice(0, MOST_NAMED)
  return (
    <>
      <Joined of={shown}>{(one) => <EntityLink kind={kind} {...one} />}</Joined>
      {shown.length < of.length && (
        <>
          {' '}
          <button type="button" class="link" onClick={() => setOpen(true)}>
            and {numberText(more)} more
          </button>
        </>
      )}
    </>
  )
}

/** An entity that a sentence may name. */
export interface Named {
  readonly kind: string
  readonly id: string
  readonly name: string
}

const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

/** A sentence of the controller: the names of entities lead to their pages, and instants are in the words of the reader. */
export function LinkedText({ text, entities }: { text: string; entities: readonly Named[] }) {
  const known = Map.groupBy(entities, ({ name }) => quoted(name))
  const names = [...known.keys()].sort((a, b) => b.length - a.length).map(literally)
  const parts = text.split(new RegExp(`(${[...names, INSTANT.source.slice(1, -1)].join('|')})`))
  return (
    <>
      {parts.map((part, place) => {
        // An identity and a service may have one name.
        const [entity, other] = known.get(part) ?? []
        const key = `${place} ${part}`
        if (INSTANT.test(part)) return <Time key={key} at={part} />
        if (entity === undefined || (other && other.id !== entity.id)) return part
        return (
          <span key={key}>
            '<EntityLink {...entity} />'
          </span>
        )
      })}
    </>
  )
}

function literally(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
}

/** An instant in the words of the reader; the date, the seconds and the time zone stand behind it. */
export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={wholeText(at)}>
      {timeText(at)}
    </time>
  )
}
