import type { EntityRef } from '../../../resources/declaration/fields.ts'
import type { RecordOf, Resource } from '../../../resources/declaration/resource.ts'

export type Links = Readonly<Record<string, { readonly href: string }>>

/** The links of an entity: itself, its related collections, an identity's auth policy, what a CA can be asked for now. */
export function linksOf(resource: Resource, record: RecordOf<Resource>): Links {
  const self = `./${resource.name}/${record.id}`
  const nested = (resource.definition.links ?? []).map((name) => [name, { href: `${self}/${name}` }])
  const policy =
    resource.name === 'identities' && typeof record.authPolicyId === 'string' ? record.authPolicyId : undefined
  return {
    self: { href: self },
    ...Object.fromEntries(nested),
    ...(policy === undefined ? {} : { 'auth-policies': { href: `./auth-policies/${policy}` } }),
    ...(resource.name === 'cas' ? caActions(self, record) : {}),
  }
}

function caActions(self: string, { isVerified, isAutoCaEnrollmentEnabled }: RecordOf<Resource>): Links {
  return {
    ...(isVerified === true ? {} : { verify: { href: `${self}/verify` } }),
    ...(isAutoCaEnrollmentEnabled === true ? { jwt: { href: `${self}/jwt` } } : {}),
  }
}

/** A reference to an entity. Entities without a name are shown with their id alone. */
export function entityRef(resource: Resource, record: RecordOf<Resource>): EntityRef {
  const name = typeof record.name === 'string' ? record.name : ''
  return { _links: { ...linksOf(resource, record) }, entity: resource.name, id: record.id, name }
}
