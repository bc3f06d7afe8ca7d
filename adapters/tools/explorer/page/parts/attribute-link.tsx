import { visibleLine } from '../../../../../src/base/text.ts'
import { hrefOf } from '../navigation/place.ts'
import { hrefOfEntity } from './entity-link.tsx'
import { Name } from './name.tsx'
import { numberText } from './number-text.ts'

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
