/**
 * The combination of a role list's `#` entries: `AllOf` needs every attribute, `AnyOf` at least one. `@` entries always select by
 * themselves.
 */
export type Semantic = 'AllOf' | 'AnyOf'

/** A role list of a policy with the policy's semantic. */
export interface RoleSelector {
  readonly roles: readonly string[]
  readonly semantic: Semantic
}

/** A parsed role list: `#all`, the attributes named with `#`, the ids named with `@`; both without their prefix. */
export interface RoleEntries {
  readonly all: boolean
  readonly attributes: readonly string[]
  readonly ids: ReadonlySet<string>
}

/**
 * Parses a role list into its three kinds of entries: `#all`, `#attribute`, `@id`. Duplicates count once. An entry without a prefix names
 * nothing; validation rejects it before it is stored.
 *
 * @example
 * readRoles(['#staff', '@alice']) // { all: false, attributes: ['staff'], ids: new Set(['alice']) }
 */
export function readRoles(roles: readonly string[]): RoleEntries {
  const attributes = new Set<string>()
  const ids = new Set<string>()
  let all = false
  for (const role of roles) {
    if (role === '#all') all = true
    else if (role.startsWith('#')) attributes.add(role.slice(1))
    else if (role.startsWith('@')) ids.add(role.slice(1))
  }
  return { all, attributes: [...attributes], ids }
}

/**
 * A role selector selects an entity that it names by `@id`, every entity when it holds `#all`, and an entity with all
 * (`AllOf`) or one (`AnyOf`) of its `#` attributes. A list without `#` entries selects by id only; an empty list selects nothing.
 *
 * @example
 * selects({ roles: ['#staff'], semantic: 'AnyOf' }, { id: 'alice', roleAttributes: ['staff'] }) // true
 */
export function selects(
  selector: RoleSelector,
  entity: { readonly id: string; readonly roleAttributes: readonly string[] },
): boolean {
  const { all, attributes, ids } = readRoles(selector.roles)
  if (all || ids.has(entity.id)) return true
  const isHeld = (attribute: string): boolean => entity.roleAttributes.includes(attribute)
  return selector.semantic === 'AllOf' ? attributes.length > 0 && attributes.every(isHeld) : attributes.some(isHeld)
}
