import type { RouterCredentials } from '../state/opened-socket.ts'
import type { PendingCredentials, RouterIdentity } from './enrolled-router.ts'

/** The most unconfirmed pairs that a router keeps; it drops the oldest. One is enough, and a second after a lost answer. */
const MOST_PENDING = 4

/**
 * The identity of a router that runs, and of its next start. A renewed key and its certificates are kept beside the former pair until a
 * controller has confirmed one of them: if the controller's answer is lost, the router cannot know the valid pair.
 */
export class HeldIdentity {
  #identity: RouterIdentity
  readonly #keep: (identity: RouterIdentity) => void | Promise<void>
  readonly #onCredentials: () => void
  /** Changes are kept in the order in which they became known. */
  #keeping: Promise<void> = Promise.resolve()
  #isKept = true

  /** `onCredentials` is called when other credentials are in force. */
  constructor(
    identity: RouterIdentity,
    keep: (identity: RouterIdentity) => void | Promise<void>,
    onCredentials: () => void,
  ) {
    this.#identity = identity
    this.#keep = keep
    this.#onCredentials = onCredentials
  }

  /** The credentials in force, as far as the router knows. */
  get credentials(): RouterCredentials {
    return this.#identity
  }

  /** All credentials that a controller may take, the pair in force first. */
  get candidates(): readonly RouterCredentials[] {
    const { ca, pending = [] } = this.#identity
    return [this.#identity, ...pending.toReversed().map((pair) => ({ ...pair, ca }))]
  }

  /** The latest unconfirmed pair; undefined without a pending pair. */
  get pending(): PendingCredentials | undefined {
    return this.#identity.pending?.at(-1)
  }

  /** False after the latest change could not be kept. */
  get isKept(): boolean {
    return this.#isKept
  }

  /** Keeps the latest change once more. Rejects as `keep` does. */
  keepAgain(): Promise<void> {
    return this.#change(this.#identity)
  }

  /** The controllers have other addresses. Rejects as `keep` does. */
  moveTo(controllers: readonly string[]): Promise<void> {
    return this.#change({ ...this.#identity, controllers })
  }

  /** Holds a further pair; it is kept when this resolves. Rejects as `keep` does, and does not hold it then. */
  async propose(pair: PendingCredentials): Promise<void> {
    const pending = [...(this.#identity.pending ?? []), pair].slice(-MOST_PENDING)
    try {
      await this.#change({ ...this.#identity, pending })
    } catch (error) {
      this.#identity = without(this.#identity, pair)
      throw error
    }
  }

  /**
   * A controller takes a certificate. A pending pair with this certificate is now in force, and the others are void. Rejects as `keep`
   * does.
   */
  async taken(clientCert: string): Promise<void> {
    const pair = this.#identity.pending?.find((known) => known.clientCert === clientCert)
    if (pair === undefined) return
    const { pending: _void, ...identity } = this.#identity
    const kept = this.#change({ ...identity, ...pair })
    this.#onCredentials()
    await kept
  }

  /** Resolves when nothing is being kept. */
  async idle(): Promise<void> {
    await this.#keeping
  }

  #change(identity: RouterIdentity): Promise<void> {
    this.#identity = identity
    const kept = this.#keeping.then(() => this.#keep(identity))
    this.#keeping = kept.then(
      () => {
        this.#isKept = true
      },
      () => {
        this.#isKept = false
      },
    )
    return kept
  }
}

function without(identity: RouterIdentity, pair: PendingCredentials): RouterIdentity {
  const { pending = [], ...rest } = identity
  const left = pending.filter(({ clientCert }) => clientCert !== pair.clientCert)
  return left.length === 0 ? rest : { ...rest, pending: left }
}
