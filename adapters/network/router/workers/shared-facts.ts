import type { FromRouter, PeerChange, ToRouter } from '../../../../src/control-channel.ts'
import { RouterSessions } from '../state/router-sessions.ts'

type Events = Extract<FromRouter, { type: 'connect-events' }>

/**
 * The facts that all workers of a router share. Facts of controllers are kept for workers that start later. Facts of workers are put together,
 * and controllers get them as of one router.
 */
export class SharedFacts {
  readonly #sessions = new RouterSessions()
  readonly #peers = new Map<string, PeerChange>()
  /** The identities with endpoints at each worker. */
  readonly #identities = new Map<number, Set<string>>()
  /** The workers that want the posture of an API session. */
  readonly #posture = new Map<string, Set<number>>()

  /** Keeps the facts in a message of a controller. */
  told(message: ToRouter, controllerId: string): void {
    switch (message.type) {
      case 'api-sessions-added':
        this.#sessions.take(message, controllerId)
        return
      case 'api-sessions-updated':
        this.#sessions.update(message.sessions)
        return
      case 'api-sessions-removed':
        this.#sessions.remove(message.tokens, message.ids)
        return
      case 'peers':
        for (const change of message.changes) {
          if (change.state === 'removed') this.#peers.delete(change.id)
          else this.#peers.set(change.id, withPlace(change, this.#peers.get(change.id)))
        }
        return
      default:
    }
  }

  /** The messages by which a worker learns the facts: the sessions, and the other routers if it holds links. */
  forWorker(holdsLinks: boolean): readonly ToRouter[] {
    const sessions = [...this.#sessions.all()]
    const peers = [...this.#peers.values()]
    return [
      ...(sessions.length > 0 ? [{ type: 'api-sessions-added', sessions } as const] : []),
      ...(holdsLinks && peers.length > 0 ? [{ type: 'peers', changes: peers } as const] : []),
    ]
  }

  /** The report of a worker about its identities, as that of the router: an identity may have endpoints at several workers. */
  connected(index: number, { full, identities }: Events): Events {
    const own = full ? new Set<string>() : (this.#identities.get(index) ?? new Set())
    for (const { identityId, connected } of identities) {
      if (connected) own.add(identityId)
      else own.delete(identityId)
    }
    this.#identities.set(index, own)
    const all = full ? this.#allIdentities() : identities.map(({ identityId }) => identityId)
    return this.#report(full, all)
  }

  /** A worker wants the posture of an API session, as the answer to its question shows. */
  wantsPosture(index: number, apiSessionId: string): void {
    this.#posture.set(apiSessionId, (this.#posture.get(apiSessionId) ?? new Set()).add(index))
  }

  /** A worker wants it no more; answers whether no worker does. */
  wantsPostureNoMore(index: number, apiSessionId: string): boolean {
    const wanting = this.#posture.get(apiSessionId)
    wanting?.delete(index)
    if ((wanting?.size ?? 0) > 0) return false
    this.#posture.delete(apiSessionId)
    return true
  }

  /** A worker is gone: answers what controllers are to hear of it. */
  lost(index: number): readonly FromRouter[] {
    const gone = [...(this.#identities.get(index) ?? [])]
    this.#identities.delete(index)
    const wanted = [...this.#posture].filter(([, workers]) => workers.has(index)).map(([id]) => id)
    return [
      ...(gone.length > 0 ? [this.#report(false, gone)] : []),
      ...wanted
        .filter((id) => this.wantsPostureNoMore(index, id))
        .map((apiSessionId) => ({ type: 'posture-unwanted', apiSessionId }) as const),
    ]
  }

  #allIdentities(): readonly string[] {
    return [...new Set([...this.#identities.values()].flatMap((own) => [...own]))]
  }

  #report(full: boolean, identityIds: readonly string[]): Events {
    const isConnected = (id: string) => [...this.#identities.values()].some((own) => own.has(id))
    const identities = identityIds.map((identityId) => ({ identityId, connected: isConnected(identityId) }))
    return { type: 'connect-events', full, identities }
  }
}

/** A peer that is away tells no place: it is dialed at its last one. */
function withPlace(change: PeerChange, before: PeerChange | undefined): PeerChange {
  if (change.state === 'healthy' || before === undefined) return change
  return { ...change, version: change.version || before.version, listeners: before.listeners }
}
