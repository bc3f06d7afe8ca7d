import { hrefOf } from '../navigation/place.ts'
import { may } from '../session/session.ts'

/** A link to a form, with the words on it. */
export interface FormLink {
  readonly label: string
  readonly href: string
}

/** The form for a new policy with some fields filled in; undefined for a user who may not create it. */
export function policyFormLink(
  kind: 'service-policies' | 'edge-router-policies' | 'service-edge-router-policies',
  fields: object,
  label?: string,
): FormLink | undefined {
  return formLink(kind, kind.replace(/ies$/, 'y'), { semantic: 'AnyOf', ...fields }, label)
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
