import { foldName } from '../../base/name-order.ts'
import { type Call, mayRead } from '../../context/call.ts'
import type { EngineContext } from '../../context/context.ts'
import type { AccessIndex, EntityKind } from '../../facts/access/index/index.ts'
import type { FoundAttribute, FoundName, FoundNames } from '../../facts/insight/graph/graph.resource.ts'
import { resourceNamed } from '../../facts/resources/index.ts'
import type { Turns } from '../../ports/runtime.ts'
import { NAMED, type Names, searchNames } from './names.ts'

const WITH_ATTRIBUTES: readonly EntityKind[] = ['identities', 'services', 'edge-routers', 'posture-checks']
/** How many role attributes of a found entity are shown. */
const MOST_SHOWN = 8
const PIECE = 64

/**
 * Searches the entities and role attributes that a caller may read: entities by name, at most `most` of each kind, and role
 * attributes, at most as many. Entities that are called exactly so come first. A text that begins with `#` finds role attributes alone.
 */
export async function search(
  context: EngineContext,
  call: Call,
  names: Names,
  text: string,
  most: number,
): Promise<FoundNames> {
  const { storage, access, settings, turns } = context
  const bounds = { most, looked: settings.limits.namesSearched }
  let isPartial = false
  const index = await storage.read((tx) => access.at(tx))
  const entities: FoundName[] = []
  for (const { name: kind, definition } of text.startsWith('#') ? [] : NAMED) {
    const order = names.get(kind)
    if (order === undefined || !mayRead(call, definition.permission)) continue
    const found = await searchNames(order, text, bounds, turns)
    isPartial ||= found.isPartial
    for (const { id, name } of found.entries) {
      const held = attributesOf(index, kind, id)
      entities.push({ kind, id, name, roleAttributes: held.slice(0, MOST_SHOWN) })
    }
  }
  const roleAttributes: FoundAttribute[] = []
  for (const kind of WITH_ATTRIBUTES) {
    if (!mayRead(call, resourceNamed(kind).definition.permission)) continue
    const wanted = foldName(text.replace(/^#/, ''))
    roleAttributes.push(...(await searchAttributes(index, kind, wanted, most - roleAttributes.length, turns)))
  }
  const wanted = foldName(text)
  const rankOf = ({ name }: FoundName) => (foldName(name) === wanted ? 0 : 1)
  return { entities: entities.sort((a, b) => rankOf(a) - rankOf(b)), roleAttributes, isPartial }
}

function attributesOf(index: AccessIndex, kind: string, id: string): readonly string[] {
  const indexed = WITH_ATTRIBUTES.find((one) => one === kind)
  return indexed === undefined ? [] : index.rolesOf(indexed, id).map((role) => role.slice(1))
}

async function searchAttributes(
  index: AccessIndex,
  kind: EntityKind,
  wanted: string,
  most: number,
  turns: Turns,
): Promise<readonly FoundAttribute[]> {
  const turn = turns.begin()
  const found: FoundAttribute[] = []
  for (const [place, roleAttribute] of index.roleAttributes(kind).entries()) {
    if (place % PIECE === 0) await turn()
    if (found.length >= most) break
    if (!foldName(roleAttribute).includes(wanted)) continue
    found.push({ kind, roleAttribute, count: index.countHolders(kind, roleAttribute) })
  }
  return found
}
