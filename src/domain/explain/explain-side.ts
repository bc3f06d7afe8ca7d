import { type RoleSelector, readRoles } from '../roles.ts'
import type { ShownRole, SideExplanation } from './explanation.ts'
import type { NamedEntity } from './facts.ts'

/** Holds a role list against an entity: which entries match, and with which role attributes it would be selected. */
export function explainSide(selector: RoleSelector, entity: NamedEntity): SideExplanation {
  const { all, attributes, ids } = readRoles(selector.roles)
  const held = attributes.filter((attribute) => entity.roleAttributes.includes(attribute))
  const isNamed = ids.has(entity.id)
  const matched: readonly ShownRole[] = [
    ...(all ? [shown('#all')] : []),
    ...(isNamed ? [{ role: `@${entity.id}`, name: `@${entity.name}` }] : []),
    ...held.map((attribute) => shown(`#${attribute}`)),
  ]
  const byAttributes =
    selector.semantic === 'AllOf' ? held.length > 0 && held.length === attributes.length : held.length > 0
  const selects = all || isNamed || byAttributes
  return { selects, matched, lacking: selects ? [] : attributes.filter((attribute) => !held.includes(attribute)) }
}

function shown(role: string): ShownRole {
  return { role, name: role }
}
