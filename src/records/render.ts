import { instant } from '../base/time.ts'
import type { Call } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { resourceNamed } from '../facts/resources/index.ts'
import type { EntityRef, NamedRole } from '../kernel/declaration/fields.ts'
import { isNullWhenEmpty, withoutAbsent } from '../kernel/declaration/quirks.ts'
import type { RecordOf, Resource } from '../kernel/declaration/resource.ts'
import { ids } from '../kernel/filter/index.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'

/** The wire form of an entity; instants are Date objects, which serialise as RFC 3339 with milliseconds. */
export type Detail = Readonly<Record<string, unknown>>

/** Computes the derived members of a page of records, one object each, in order. */
export type DeriveMembers<R extends Resource> = (
  context: EngineContext,
  tx: ReadTransaction,
  call: Call,
  records: readonly RecordOf<R>[],
) => Promise<readonly Detail[]>

/** Records that are rendered between two checks of the clock. */
const RECORDS_PER_LOOK = 32

/**
 * Renders a page of records in slices: base fields, visible fields, entity references, role displays and the members that `derive`
 * computes. The number of reads does not grow with the page.
 */
export async function renderDetails<R extends Resource>(
  context: EngineContext,
  tx: ReadTransaction,
  call: Call,
  resource: R,
  records: readonly RecordOf<R>[],
  derive?: DeriveMembers<R>,
): Promise<readonly Detail[]> {
  const derived = await derive?.(context, tx, call, records)
  const turn = context.turns.begin()
  await turn()
  const details: Detail[] = []
  const related = isSelfContained(resource) ? undefined : await relatedEntities(tx, resource, records)
  for (const [position, record] of records.entries()) {
    details.push(rendered(context, resource, record, related, derived?.[position]))
    if (position % RECORDS_PER_LOOK === RECORDS_PER_LOOK - 1) await turn()
  }
  return details
}

/** The wire form of a record; `related` is undefined where no other entity is shown. */
function rendered(
  context: EngineContext,
  resource: Resource,
  record: RecordOf<Resource>,
  related: Related | undefined,
  members: Detail | undefined,
): Detail {
  if (related === undefined) return context.texts.composed(ownDetail(context, resource, record), members ?? {})
  const form = () =>
    withoutAbsent(resource.definition, context.settings.profile.showsEmptyAsDeployed, {
      _links: linksOf(resource, record),
      ...shownFields(context, resource, record),
      ...shownReferences(resource, record, related),
      ...roleDisplays(resource, record, related),
      ...members,
    })
  if (members === undefined || hasRoleLists(resource)) return form()
  return context.texts.madeWith(members, [record, ...referencesOf(resource, record, related)], form)
}

/** Reports whether the wire form shows no other entity: all but the derived members then follow from the record. */
function isSelfContained(resource: Resource): boolean {
  const { references = {} } = resource.definition
  return !hasRoleLists(resource) && Object.values(references).every(({ show }) => show === undefined)
}

function hasRoleLists({ definition: { selects = {} } }: Resource): boolean {
  return Object.keys(selects).length > 0
}

/**
 * The base fields, links and visible fields of an entity, which follow from its record alone. Each change of an entity makes a new record
 * object.
 */
export function ownDetail(context: EngineContext, resource: Resource, record: RecordOf<Resource>): Detail {
  const { texts } = context
  return texts.made('own members', record, () => {
    const shown = { _links: linksOf(resource, record), ...shownFields(context, resource, record) }
    return texts.keep(withoutAbsent(resource.definition, context.settings.profile.showsEmptyAsDeployed, shown))
  })
}

function shownFields({ settings }: EngineContext, resource: Resource, record: RecordOf<Resource>): Detail {
  const { hidden = [] } = resource.definition
  const { showsEmptyAsDeployed } = settings.profile
  const shown: Record<string, unknown> = { id: record.id }
  for (const [field, kind] of Object.entries(resource.fields)) {
    if (hidden.includes(field)) continue
    const value = record[field]
    shown[field] = kind === 'instant' && typeof value === 'number' ? instant(value) : value
    const isEmpty = Array.isArray(value) && value.length === 0
    if (isEmpty && showsEmptyAsDeployed && isNullWhenEmpty(resource.definition, field)) shown[field] = null
  }
  return shown
}

/** Entities by resource name and id. */
type Related = ReadonlyMap<string, ReadonlyMap<string, RecordOf<Resource>>>

async function relatedEntities(
  tx: ReadTransaction,
  resource: Resource,
  records: readonly RecordOf<Resource>[],
): Promise<Related> {
  const wanted = new Map<string, Set<string>>()
  const want = (kind: string, id: string) => wanted.set(kind, (wanted.get(kind) ?? new Set()).add(id))
  for (const record of records) {
    for (const [field, { to, show }] of Object.entries(resource.definition.references ?? {})) {
      const id = record[field]
      if (show !== undefined && typeof id === 'string') want(to, id)
    }
    for (const [field, kind] of Object.entries(resource.definition.selects ?? {})) {
      for (const role of rolesOf(record, field)) if (role.startsWith('@')) want(kind, role.slice(1))
    }
  }
  const related = new Map<string, ReadonlyMap<string, RecordOf<Resource>>>()
  for (const [kind, entityIds] of wanted) {
    const { items } = await tx.collection(resourceNamed(kind)).find({ where: ids([...entityIds]) })
    related.set(kind, new Map(items.map((item) => [item.id, item])))
  }
  return related
}

/** The referenced entities that a record shows, in the order of its declaration. */
function referencesOf(resource: Resource, record: RecordOf<Resource>, related: Related): readonly unknown[] {
  const shown = Object.entries(resource.definition.references ?? {}).filter(([, { show }]) => show !== undefined)
  return shown.map(([field, { to }]) => related.get(to)?.get(String(record[field])))
}

function shownReferences(resource: Resource, record: RecordOf<Resource>, related: Related): Detail {
  const shown: Record<string, unknown> = {}
  const { references = {}, quirks: { urlNames = [] } = {} } = resource.definition
  for (const [field, { to, show }] of Object.entries(references)) {
    if (show === undefined) continue
    const id = record[field]
    const entity = typeof id === 'string' ? related.get(to)?.get(id) : undefined
    const ref = entity === undefined ? null : entityRef(resourceNamed(to), entity)
    shown[show] = ref !== null && urlNames.includes(field) ? { ...ref, urlName: ref.entity } : ref
  }
  return shown
}

function roleDisplays(resource: Resource, record: RecordOf<Resource>, related: Related): Detail {
  const displays = Object.entries(resource.definition.selects ?? {}).map(([field, kind]) => [
    `${field}Display`,
    rolesOf(record, field).flatMap((role) => namedRole(role, related.get(kind))),
  ])
  return Object.fromEntries(displays)
}

/** An `@id` shows the entity's current name, and is left out once the entity is deleted. */
function namedRole(role: string, entities: ReadonlyMap<string, RecordOf<Resource>> | undefined): readonly NamedRole[] {
  if (!role.startsWith('@')) return [{ role, name: role }]
  const entity = entities?.get(role.slice(1))
  return entity === undefined ? [] : [{ role, name: `@${entity.name}` }]
}

function rolesOf(record: RecordOf<Resource>, field: string): readonly string[] {
  const roles = record[field]
  return Array.isArray(roles) ? roles : []
}

export type Links = Readonly<Record<string, { readonly href: string }>>

/** The links of an entity: itself, its related collections, the auth policy of an identity, the current operations of a CA. */
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
