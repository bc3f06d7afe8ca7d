import type { Apis } from '../api/apis.ts'
import { membersOf } from '../api/read-json.ts'
import type { Chip } from '../parts/chip.ts'
import { type Change, changedBy, differenceOf, type PolicyDraft, policyBody } from './change.ts'
import { readAttributes, readGroupChange } from './read-entity.ts'

/** Longer drafts are not in the address: programs that pass links on cut them. */
const LONGEST_LINK = 6000

/** The changes of a draft in the form of an address; undefined for a draft that is empty, or too long for an address. */
export function linkOf(changes: readonly Change[]): string | undefined {
  if (changes.length === 0) return undefined
  const text = JSON.stringify(changes.map(shortly))
  return encodeURIComponent(text).length <= LONGEST_LINK ? text : undefined
}

function shortly(change: Change): Linked {
  if (change.kind === 'group') return { kind: 'group', holders: change.holders, roleAttribute: change.roleAttribute }
  if (change.kind !== 'service-policies') return { kind: change.kind, id: change.id, ...differenceOf(change) }
  if (change.action === 'create') return { kind: change.kind, policy: policyBody(change.policy) }
  const known = { kind: change.kind, id: change.id, before: policyBody(change.before) }
  return change.action === 'delete' ? known : { ...known, policy: policyBody(change.policy) }
}

/** A change as an address has it. Changes of others before the address is opened stay, or are shown where the change is applied. */
interface Linked {
  readonly kind: string
  readonly id?: string
  readonly holders?: string
  readonly roleAttribute?: string
  /** Role attributes that the change adds to an entity, and role attributes that it removes. */
  readonly added?: readonly string[]
  readonly taken?: readonly string[]
  /** A policy as it was when the change began; without `policy`, the change deletes it. */
  readonly before?: ReturnType<typeof policyBody>
  readonly policy?: ReturnType<typeof policyBody>
}

/** Reads the draft that an address holds, for the network as it is now. Throws for an invalid draft, and for a missing entity. */
export async function readDraft(apis: Apis, text: string): Promise<readonly Change[]> {
  const linked: unknown = JSON.parse(text)
  if (!Array.isArray(linked)) throw new Error('The address holds no draft.')
  return Promise.all(linked.map((one, place) => readLinked(apis, one, place)))
}

async function readLinked(apis: Apis, linked: unknown, place: number): Promise<Change> {
  const { kind, id, holders, roleAttribute, added, taken, before, policy } = membersOf(linked)
  if (kind === 'group' && typeof holders === 'string' && typeof roleAttribute === 'string') {
    return readGroupChange(apis, holders, roleAttribute)
  }
  if ((kind === 'identities' || kind === 'services') && typeof id === 'string') {
    const entity = await readAttributes(apis, kind, id)
    return { ...entity, roleAttributes: changedBy({ added: textsOf(added), taken: textsOf(taken) }, entity.before) }
  }
  if (kind !== 'service-policies') throw new Error('The address holds no draft.')
  if (typeof id !== 'string') return { kind, action: 'create', number: place, policy: await policyOf(apis, policy) }
  const was = await policyOf(apis, before)
  if (policy === undefined) return { kind, action: 'delete', id, name: was.name, before: was }
  return { kind, action: 'update', id, name: was.name, before: was, policy: await policyOf(apis, policy) }
}

async function policyOf(apis: Apis, linked: unknown): Promise<PolicyDraft> {
  const { name, type, semantic, identityRoles, serviceRoles, postureCheckRoles } = membersOf(linked)
  return {
    name: typeof name === 'string' ? name : '',
    type: type === 'Bind' ? 'Bind' : 'Dial',
    semantic: semantic === 'AllOf' ? 'AllOf' : 'AnyOf',
    identityRoles: await chipsOf(apis, 'identities', identityRoles),
    serviceRoles: await chipsOf(apis, 'services', serviceRoles),
    postureCheckRoles: await chipsOf(apis, 'posture-checks', postureCheckRoles),
  }
}

/** The entries of a role list, with names in place of ids. */
async function chipsOf(
  { management }: Apis,
  kind: 'identities' | 'services' | 'posture-checks',
  roles: unknown,
): Promise<readonly Chip[]> {
  return Promise.all(
    textsOf(roles).map(async (value) => {
      if (!value.startsWith('@')) return { value, name: value }
      const { data } = await management.call(`GET /${kind}/{id}`, { params: { id: value.slice(1) } })
      return { value, name: `@${data.name}` }
    }),
  )
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}
