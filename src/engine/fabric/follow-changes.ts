import type { Change, ReadTransaction } from '../../ports/storage.ts'
import { sessions } from '../../resources/access/sessions.ts'
import { edgeRouters } from '../../resources/routers/edge-routers.ts'
import { terminators } from '../../resources/routers/terminators.ts'
import { transitRouters } from '../../resources/routers/transit-routers.ts'
import type { FabricParts } from './fabric-parts.ts'

type Changes = readonly Change[] | undefined

/** Takes to the data plane what changed in the store: what takes something from somebody comes first. */
export async function followChanges(parts: FabricParts, tx: ReadTransaction, changes: Changes): Promise<void> {
  forgetSessions(parts, changes)
  await parts.accessLoss.follow(tx, changes)
  await parts.announced.follow(tx, changes)
  await refreshTerms(parts, tx, changes)
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

async function refreshTerms({ routers, network }: FabricParts, tx: ReadTransaction, changes: Changes): Promise<void> {
  const isRouter = (kind: string) => kind === edgeRouters.name || kind === transitRouters.name
  const changed = changes?.filter(({ kind }) => isRouter(kind)).map(({ id }) => id)
  for (const id of changed ?? routers.all().map((router) => router.id)) {
    const router = routers.get(id)
    const terms = router && (await termsOf(tx, id))
    if (router === undefined || terms === undefined) continue
    router.terms = terms
    network.routersChanged()
  }
}

function deletedIn(changes: Changes, name: string): readonly string[] {
  const deleted = changes?.filter(({ kind, operation }) => kind === name && operation === 'delete')
  return deleted?.map(({ id }) => id) ?? []
}
