import { routersOf } from '../../domain/fabric/index.ts'
import { equals } from '../../domain/filter/index.ts'
import type { Change, ReadTransaction } from '../../ports/storage.ts'
import { sessions } from '../../resources/access/sessions.ts'
import { edgeRouters } from '../../resources/routers/edge-routers.ts'
import { terminators } from '../../resources/routers/terminators.ts'
import { transitRouters } from '../../resources/routers/transit-routers.ts'
import { shutOutAmong } from '../routers/router-admission.ts'
import { shutOut } from './circuits/shut-out.ts'
import type { FabricParts } from './fabric-parts.ts'

type Changes = readonly Change[] | undefined

/** How many disabled routers a router is told of as it connects: far more than links to them are left. */
const MOST_DISABLED = 1000

/** Takes to the data plane what changed in the store: what takes something from somebody comes first. */
export async function followChanges(parts: FabricParts, tx: ReadTransaction, changes: Changes): Promise<void> {
  await refreshRouters(parts, tx, changes)
  forgetSessions(parts, changes)
  await parts.accessLoss.follow(tx, changes)
  await parts.announced.follow(tx, changes)
  for (const id of deletedIn(changes, terminators.name)) parts.circuits.forgetTerminator(id)
  parts.model.look()
}

/** What the record of a router says of it; undefined for one that is gone. */
export async function termsOf(tx: ReadTransaction, id: string) {
  const edgeRouter = await tx.collection(edgeRouters).get(id)
  const router = edgeRouter ?? (await tx.collection(transitRouters).get(id))
  if (router === undefined) return undefined
  const { cost, noTraversal } = router
  return { cost, noTraversal, isEdgeRouter: edgeRouter !== undefined }
}

function forgetSessions({ routers }: FabricParts, changes: Changes): void {
  const ids = deletedIn(changes, sessions.name)
  if (ids.length === 0) return
  const news = { type: 'sessions-removed', ids } as const
  for (const { channel } of routers.edgeRouters()) channel.send(news)
}

/** The first of the routers that are disabled. */
export async function disabledRouters(tx: ReadTransaction): Promise<readonly string[]> {
  const query = { where: equals('disabled', true), limit: MOST_DISABLED }
  return [...(await tx.collection(edgeRouters).findIds(query)), ...(await tx.collection(transitRouters).findIds(query))]
}

async function refreshRouters(parts: FabricParts, tx: ReadTransaction, changes: Changes): Promise<void> {
  const { routers, network } = parts
  const isRouter = (kind: string) => kind === edgeRouters.name || kind === transitRouters.name
  const changed = changes?.filter(({ kind }) => isRouter(kind)).map(({ id }) => id)
  if (changed?.length === 0) return
  const known = new Set(routersKnown(parts))
  for (const id of changed?.filter((id) => known.has(id)) ?? known) {
    const terms = await termsOf(tx, id)
    // Also one that is not connected here may be carrying circuits of this process.
    const [isShutOut] = await shutOutAmong(tx, [id])
    if (isShutOut) shutOut(parts, id, terms === undefined ? 'router-deleted' : 'router-shut-out')
    const router = routers.get(id)
    if (router === undefined || terms === undefined) continue
    router.terms = terms
    network.routersChanged()
  }
}

/** The routers that are connected here, those with links, and those on the way of a circuit. */
function* routersKnown({ routers, network, circuits }: FabricParts): Iterable<string> {
  for (const { id } of routers.all()) yield id
  for (const { source, target } of network.all()) yield* [source, target]
  for (const { course } of circuits.all()) yield* routersOf(course)
}

function deletedIn(changes: Changes, name: string): readonly string[] {
  const deleted = changes?.filter(({ kind, operation }) => kind === name && operation === 'delete')
  return deleted?.map(({ id }) => id) ?? []
}
