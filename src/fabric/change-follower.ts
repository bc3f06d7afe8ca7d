import { runEach } from '../concurrency/call-isolated.ts'
import { Gate } from '../concurrency/gate.ts'
import { logFailure } from '../context/background-failure.ts'
import type { EngineContext } from '../context/context.ts'
import { changesAfter, placeOf } from '../context/store-level.ts'
import { sessions } from '../facts/access/session.resource.ts'
import { routersOf } from '../facts/fabric/rules/index.ts'
import { edgeRouters } from '../facts/routers/edge-router.resource.ts'
import { transitRouters } from '../facts/routers/transit-router.resource.ts'
import { terminators } from '../facts/services/terminator.resource.ts'
import { equals } from '../kernel/filter/index.ts'
import { type Change, type HistoryPoint, isSamePoint, type ReadTransaction } from '../ports/record-storage.ts'
import { shutOutAmong } from '../routers/router-admission.ts'
import type { FabricParts } from './assemble-fabric.ts'
import type { RelayedRouters } from './processes/relayed-routers.ts'
import { shutOut } from './shut-out.ts'

/** Acts on changes of the store; undefined where the feed no longer holds them. */
export type FollowChanges = (tx: ReadTransaction, changes: readonly Change[] | undefined) => Promise<void>

/**
 * Follows the change feed of the store, so that a write by another process has the same consequences as a write by this process. Looks run
 * one after the other; a request joins a look that has not begun.
 */
export class ChangeFollower {
  readonly #context: EngineContext
  readonly #follow: FollowChanges
  /** The last change that was followed; undefined before the first look. */
  #place: HistoryPoint | undefined
  readonly #looks = new Gate(1)
  /** The look that has not begun. */
  #next: Promise<void> | undefined

  constructor(context: EngineContext, follow: FollowChanges) {
    this.#context = context
    this.#follow = follow
  }

  /** Looks for changes soon; resolves when all changes up to now are followed. */
  look(): Promise<void> {
    this.#next ??= this.#looks.run(() => this.#look())
    return this.#next
  }

  async #look(): Promise<void> {
    this.#next = undefined
    try {
      await this.#context.storage.read(async (tx) => {
        if (this.#place !== undefined && isSamePoint(tx, this.#place)) return
        await this.#follow(tx, await changesAfter(tx, this.#place))
        this.#place = placeOf(tx)
      })
    } catch (error) {
      // The next look begins at the same change.
      logFailure(this.#context.logger, 'changes could not be followed', error)
    }
  }
}

type Changes = readonly Change[] | undefined

/** The data plane, and the routers that other processes offer. */
interface FollowingParts extends FabricParts {
  readonly relayed: Pick<RelayedRouters, 'isOffered' | 'reconsider'>
}

/** The most disabled routers that are named to a router as it connects: far more than still have links. */
const MOST_DISABLED = 1000

/**
 * Applies changes of the store to the data plane: losses of rights come first. Each step runs even if an earlier step failed; the next look
 * repeats all of them then.
 */
export function followChanges(parts: FollowingParts, tx: ReadTransaction, changes: Changes): Promise<void> {
  const works = [
    () => refreshRouters(parts, tx, changes),
    () => forgetSessions(parts, changes),
    () => parts.accessLoss.follow(tx, changes),
    () => parts.announced.follow(tx, changes),
    () => parts.endpointPosture.follow(tx, changes),
    () => {
      for (const id of deletedIn(changes, terminators.name)) parts.circuits.forgetTerminator(id)
    },
    () => parts.model.look(),
  ]
  return runEach(works, (error) =>
    logFailure(parts.context.logger, 'more than one thing could not be taken to the data plane', error),
  )
}

/** Reads the terms of a router's record; undefined for a router that is gone. */
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
  for (const { channel } of routers.heldEdgeRouters()) channel.send(news)
}

/** The first of the routers that are disabled. */
export async function disabledRouters(tx: ReadTransaction): Promise<readonly string[]> {
  const query = { where: equals('disabled', true), limit: MOST_DISABLED }
  return [...(await tx.collection(edgeRouters).findIds(query)), ...(await tx.collection(transitRouters).findIds(query))]
}

async function refreshRouters(parts: FollowingParts, tx: ReadTransaction, changes: Changes): Promise<void> {
  const { routers, network, relayed } = parts
  const isRouter = (kind: string) => kind === edgeRouters.name || kind === transitRouters.name
  const changed = changes?.filter(({ kind }) => isRouter(kind)).map(({ id }) => id)
  if (changed?.length === 0) return
  const known = new Set(routersKnown(parts))
  for (const id of changed?.filter((id) => known.has(id) || relayed.isOffered(id)) ?? known) {
    const terms = await termsOf(tx, id)
    // A router that is not connected here may still carry circuits of this process.
    const [isShutOut] = await shutOutAmong(tx, [id])
    if (isShutOut) shutOut(parts, id, terms === undefined ? 'router-deleted' : 'router-shut-out')
    // Its process may not have noticed that it was shut out for a moment, and offers it as before.
    else if (routers.get(id) === undefined) relayed.reconsider(id)
    const router = routers.get(id)
    if (router === undefined || terms === undefined) continue
    router.terms = terms
    network.routersChanged()
  }
}

/** The routers that are reached, those with links, and those on the way of a circuit. */
function* routersKnown({ routers, network, circuits }: FabricParts): Iterable<string> {
  for (const { id } of routers.all()) yield id
  for (const { source, target } of network.all()) yield* [source, target]
  for (const { course } of circuits.all()) yield* routersOf(course)
}

function deletedIn(changes: Changes, name: string): readonly string[] {
  const deleted = changes?.filter(({ kind, operation }) => kind === name && operation === 'delete')
  return deleted?.map(({ id }) => id) ?? []
}
