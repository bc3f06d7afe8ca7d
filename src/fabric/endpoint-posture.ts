import { postureDataOf } from '../access/posture/posture-of.ts'
import { handOnPosture } from '../access/posture/posture-reports.ts'
import type { EngineContext } from '../context/context.ts'
import { endpointStates, postureData } from '../facts/access/posture/posture-data.resource.ts'
import type { FromRouter, PostureKnown } from '../facts/fabric/messages/index.ts'
import type { Change, ReadTransaction } from '../ports/record-storage.ts'
import type { ConnectedRouter, ConnectedRouters } from './channels/connected-routers.ts'
import { requireApiSession, verifyPresented } from './circuits/presented-tokens.ts'

type Reported = Extract<FromRouter, { type: 'posture-reported' }>

/** The API sessions that a router asked for. */
class Wanted {
  readonly #identityOf = new Map<string, string>()
  readonly #ofIdentity = new Map<string, Set<string>>()

  add(apiSessionId: string, identityId: string): void {
    this.#identityOf.set(apiSessionId, identityId)
    this.#ofIdentity.set(identityId, (this.#ofIdentity.get(identityId) ?? new Set()).add(apiSessionId))
  }

  delete(apiSessionId: string): void {
    const identityId = this.#identityOf.get(apiSessionId) ?? ''
    const ofIdentity = this.#ofIdentity.get(identityId)
    this.#identityOf.delete(apiSessionId)
    if (ofIdentity?.delete(apiSessionId) && ofIdentity.size === 0) this.#ofIdentity.delete(identityId)
  }

  /** The API sessions that a change concerns, with their identities: all of them where the changed records are unknown. */
  concerned(changed: ReadonlySet<string> | undefined): readonly (readonly [string, string])[] {
    if (changed === undefined) return [...this.#identityOf]
    const ids = [...changed]
    const sessions = new Set(ids.flatMap((id) => [id, ...(this.#ofIdentity.get(id) ?? [])]))
    return [...sessions].flatMap((id) => {
      const identityId = this.#identityOf.get(id)
      return identityId === undefined ? [] : [[id, identityId] as const]
    })
  }
}

/**
 * The posture that endpoints report at edge routers which leave judging it to the controller. A router receives the known posture of the
 * API sessions that it asked for, and again after each change, even by reports to other routers.
 */
export class EndpointPosture {
  readonly #context: EngineContext
  readonly #routers: Pick<ConnectedRouters, 'held'>
  readonly #wanted = new Map<ConnectedRouter, Wanted>()

  constructor(context: EngineContext, routers: Pick<ConnectedRouters, 'held'>) {
    this.#context = context
    this.#routers = routers
  }

  /** Takes the reports of an endpoint, and answers its posture afterwards. Throws {@link RouterRefusal}. */
  async take(router: ConnectedRouter, { apiSessionToken, reports }: Reported): Promise<PostureKnown> {
    const presented = await verifyPresented(this.#context, apiSessionToken, undefined)
    const { id: apiSessionId, identityId } = await this.#context.storage.read((tx) =>
      requireApiSession(this.#context, tx, presented),
    )
    // This comes first, so that no change during the read is missed.
    if (this.#routers.held(router.id) === router) this.#wantedOf(router).add(apiSessionId, identityId)
    if (reports.length > 0) await handOnPosture(this.#context, { identityId, apiSessionId }, reports)
    return this.#context.storage.read((tx) => known(tx, identityId, apiSessionId))
  }

  #wantedOf(router: ConnectedRouter): Wanted {
    const wanted = this.#wanted.get(router) ?? new Wanted()
    this.#wanted.set(router, wanted)
    return wanted
  }

  /** The router has no endpoint of the API session any more. */
  unwanted(router: ConnectedRouter, apiSessionId: string): void {
    this.#wanted.get(router)?.delete(apiSessionId)
  }

  forget(router: ConnectedRouter): void {
    this.#wanted.delete(router)
  }

  /** Sends routers the changed posture of endpoints that they asked for; of all endpoints where the changes are unknown. */
  async follow(tx: ReadTransaction, changes: readonly Change[] | undefined): Promise<void> {
    const changed = changes && new Set(changes.filter(({ kind }) => ENDPOINT_KINDS.has(kind)).map(({ id }) => id))
    if (changed?.size === 0) return
    for (const [{ channel }, wanted] of this.#wanted) {
      for (const [apiSessionId, identityId] of wanted.concerned(changed)) {
        channel.send(await known(tx, identityId, apiSessionId))
      }
    }
  }
}

/** The state of an endpoint is stored by API session, its reports by identity. */
const ENDPOINT_KINDS: ReadonlySet<string> = new Set([endpointStates.name, postureData.name])

async function known(tx: ReadTransaction, identityId: string, apiSessionId: string): Promise<PostureKnown> {
  const posture = await postureDataOf(tx, identityId, apiSessionId)
  return { type: 'posture-known', apiSessionId, revision: tx.revision, posture }
}
