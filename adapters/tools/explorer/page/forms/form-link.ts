import { hrefOf } from '../navigation/place.ts'
import { may } from '../session/session.ts'

/** A link to a form, with the words on it. */
export interface FormLink {
  readonly label: string
  readonly href: string
}

const ALL_ROUTERS = { edgeRouterRoles: ['#all'] }

/** The policies that an entity may lack: the kind, the name with the entity's in place of `*`, and the list in which the entity stands. */
const LACKED = {
  host: ['service-policies', 'hosts of *', 'serviceRoles', { type: 'Bind' }],
  services: ['service-policies', 'services of *', 'identityRoles', { type: 'Dial' }],
  identities: ['service-policies', '* for', 'serviceRoles', { type: 'Dial' }],
  routersOfService: ['service-edge-router-policies', 'edge routers of *', 'serviceRoles', ALL_ROUTERS],
  routersOfIdentity: ['edge-router-policies', 'edge routers of *', 'identityRoles', ALL_ROUTERS],
} as const

/** The form for a policy that gives an entity what it lacks; undefined for a user who may not create it. */
export function policyFormLink(
  lacked: keyof typeof LACKED,
  { id, name }: { readonly id: string; readonly name: string },
  label?: string,
): FormLink | undefined {
  const [kind, called, list, rest] = LACKED[lacked]
  const fields = { semantic: 'AnyOf', name: called.replace('*', () => name), [list]: [`@${id}`], ...rest }
  return formLink(kind, kind.replace(/ies$/, 'y'), fields, label)
}

/** The form for a new entity with some fields filled in; undefined for a user who may not create it. */
export function formLink(
  kind: string,
  permission: string,
  fields: object,
  label = 'Fill in the form',
): FormLink | undefined {
  if (!may(permission, 'create')) return undefined
  return { label, href: hrefOf('json', { kind, new: 'true', with: JSON.stringify(fields) }) }
}
