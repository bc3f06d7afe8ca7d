/**
 * How a connection of an edge channel stands. `dialing`: its circuit is being laid. `abandoned`: the endpoint gave a dial up
 * before its circuit was there; the id stays taken until the circuit is known, so that nobody else gets its end.
 */
export type ConnectionState = 'dialing' | 'abandoned' | 'open' | 'bound'

/** How much of each an edge channel may have. */
export interface ConnectionLimits {
  readonly connections: number
  /** Dials that wait for their circuit, of those. */
  readonly dials: number
  /** Bound services, of those. */
  readonly binds: number
}

/** Why a connection cannot begin. */
export type NoConnection = 'taken' | 'too-many'

interface Entry<T> {
  state: ConnectionState
  readonly value: T
}

/** The first id that a router gives to a connection; endpoints count from below. */
const FIRST_ROUTER_ID = 0x80_00_00_00
const LAST_ID = 0xff_ff_ff_ff

/**
 * The connections of one edge channel by their ids: one space of ids for what endpoints dial and bind and for what is dialed to
 * them. An id is free again once its connection is gone.
 */
export class ConnectionTable<T> {
  readonly #limits: ConnectionLimits
  readonly #entries = new Map<number, Entry<T>>()
  readonly #counts: Record<ConnectionState, number> = { dialing: 0, abandoned: 0, open: 0, bound: 0 }
  #nextId = FIRST_ROUTER_ID

  constructor(limits: ConnectionLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#entries.size
  }

  /** The endpoint dials under an id; answers why it cannot, if so. */
  dial(id: number, value: T): NoConnection | undefined {
    const { dialing, abandoned } = this.#counts
    return this.#begin(id, 'dialing', value, dialing + abandoned >= this.#limits.dials)
  }

  /** The endpoint binds a service under an id; answers why it cannot, if so. */
  bind(id: number, value: T): NoConnection | undefined {
    return this.#begin(id, 'bound', value, this.#counts.bound >= this.#limits.binds)
  }

  /** Somebody dials the endpoint, which chose the id. */
  accept(id: number, value: T): NoConnection | undefined {
    return this.#begin(id, 'open', value, false)
  }

  /** An id for somebody who dials the endpoint; undefined where the channel is full. */
  freeId(): number | undefined {
    if (this.#entries.size >= this.#limits.connections) return undefined
    while (this.#entries.has(this.#nextId)) this.#advance()
    const id = this.#nextId
    this.#advance()
    return id
  }

  /** The circuit of a dial is there: false where nobody waits for it any more, and the id is free. */
  open(id: number, value: T): boolean {
    const entry = this.#entries.get(id)
    if (entry?.value !== value) return false
    if (entry.state === 'dialing') {
      this.#change(entry, 'open')
      return true
    }
    if (entry.state === 'abandoned') this.release(id, value)
    return false
  }

  /** The endpoint closes a connection: it is gone, but for a dial whose circuit is to come. Answers what was there. */
  close(id: number): { readonly state: ConnectionState; readonly value: T } | undefined {
    const entry = this.#entries.get(id)
    if (entry === undefined || entry.state === 'abandoned') return undefined
    const { state, value } = entry
    if (state === 'dialing') this.#change(entry, 'abandoned')
    else this.release(id, value)
    return { state, value }
  }

  /** Gives an id back, if it is still the one of this connection. */
  release(id: number, value: T): boolean {
    const entry = this.#entries.get(id)
    if (entry?.value !== value) return false
    this.#counts[entry.state] -= 1
    return this.#entries.delete(id)
  }

  all(): Iterable<Readonly<Entry<T>>> {
    return this.#entries.values()
  }

  get(id: number): T | undefined {
    return this.#entries.get(id)?.value
  }

  stateOf(id: number): ConnectionState | undefined {
    return this.#entries.get(id)?.state
  }

  /** All connections, which are forgotten: the channel is over. */
  clear(): readonly { readonly state: ConnectionState; readonly value: T }[] {
    const all = [...this.#entries.values()]
    this.#entries.clear()
    for (const { state } of all) this.#counts[state] -= 1
    return all
  }

  #begin(id: number, state: ConnectionState, value: T, isFull: boolean): NoConnection | undefined {
    if (this.#entries.has(id)) return 'taken'
    if (isFull || this.#entries.size >= this.#limits.connections) return 'too-many'
    this.#entries.set(id, { state, value })
    this.#counts[state] += 1
    return undefined
  }

  #change(entry: Entry<T>, state: ConnectionState): void {
    this.#counts[entry.state] -= 1
    entry.state = state
    this.#counts[state] += 1
  }

  #advance(): void {
    this.#nextId = this.#nextId === LAST_ID ? FIRST_ROUTER_ID : this.#nextId + 1
  }
}
