import { z } from 'zod'
import { invalidField } from '../../domain/errors.ts'
import { type Filter, ids } from '../../domain/filter/index.ts'

/** The query parameters that narrow a list by role: `roleFilter` may be repeated. */
export const RoleFilterQuery = z.object({
  roleFilter: z.array(z.string()).optional(),
  roleSemantic: z.string().optional(),
})

/**
 * Reads `roleFilter` (`#attribute` or `@id`) and `roleSemantic` (`AllOf`, the default, or `AnyOf`, in any case): entities
 * whose attributes match, and the named ones. Error: `COULD_NOT_VALIDATE` with the parameter.
 */
export function readRoleFilter(parameters: URLSearchParams): Filter | undefined {
  const roles = parameters.getAll('roleFilter').filter((role) => role !== '')
  if (roles.length === 0) return undefined
  const strange = roles.find((role) => !role.startsWith('#') && !role.startsWith('@'))
  if (strange !== undefined) throw invalidField('roleFilter', 'role filters must begin with # or @', strange)
  const conditions = roles.filter((role) => role.startsWith('#')).map((role) => hasAttribute(role.slice(1)))
  const named = ids(roles.filter((role) => role.startsWith('@')).map((role) => role.slice(1)))
  const kind = semanticOf(parameters.get('roleSemantic')) === 'allof' ? 'and' : 'or'
  const [first, ...others] = conditions
  if (first === undefined) return named
  return { kind: 'or', left: others.reduce((left, right) => ({ kind, left, right }), first), right: named }
}

function semanticOf(text: string | null): string {
  const semantic = (text || 'AllOf').toLowerCase()
  if (semantic === 'allof' || semantic === 'anyof') return semantic
  throw invalidField('semantic', 'invalid semantic', text)
}

function hasAttribute(attribute: string): Filter {
  return { kind: 'compare', operand: { kind: 'anyOf', field: 'roleAttributes' }, operator: '=', value: attribute }
}
