/**
 * The state of a connection of an edge channel. `dialing`: its circuit is being created. `abandoned`: the endpoint gave up a dial before
 * the circuit existed. The id stays taken until the circuit is known, so that no other connection gets its end.
 */
export type ConnectionState = 'dialing' | 'abandoned' | 'open' | 'bound'

/** The limits of an edge channel. */
export interface ConnectionLimits {
  readonly connections: number
  /** Dials among them that wait for their circuit. */
  readonly dials: number
  /** Bound services among them. */
  readonly binds: number
}

/** The reason why a connection cannot begin. */
export type NoConnection = 'taken' | 'too-many'

interface Entry<T> {
  state: ConnectionState
  readonly value: T
}

/** The first id that a router assigns to a connection; endpoints use lower ids. */
const FIRST_ROUTER_ID = 0x80_00_00_00
const LAST_ID = 0xff_ff_ff_ff

/**
 * The connections of one edge channel by their ids: outgoing dials, binds and incoming dials of endpoints share one space of ids. An id is
 * free again once its connection has ended.
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

  /** Adds a dial of the endpoint under an id; answers the reason of a refusal. */
  dial(id: number, value: T): NoConnection | undefined {
    const { dialing, abandoned } = this.#counts
    return this.#begin(id, 'dialing', value, dialing + abandoned >= this.#limits.dials)
  }

  /** Adds a bind of the endpoint under an id; answers the reason of a refusal. */
  bind(id: number, value: T): NoConnection | undefined {
    return this.#begin(id, 'bound', value, this.#counts.bound >= this.#limits.binds)
  }

  /** Adds an incoming dial under an id that the endpoint chose; answers the reason of a refusal. */
  accept(id: number, value: T): NoConnection | undefined {
    return this.#begin(id, 'open', value, false)
  }

  /** An id for an incoming dial; undefined for a full channel. */
  freeId(): number | undefined {
    if (this.#entries.size >= this.#limits.connections) return undefined
    while (this.#entries.has(this.#nextId)) this.#advance()
    const id = this.#nextId
    this.#advance()
    return id
  }

  /** Opens a dial whose circuit exists; false when the endpoint no longer waits for it, and the id is freed. */
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

  /** Closes a connection for the endpoint, and answers it. A dial stays as `abandoned` until its circuit is known. */
  close(id: number): { readonly state: ConnectionState; readonly value: T } | undefined {
    const entry = this.#entries.get(id)
    if (entry === undefined || entry.state === 'abandoned') return undefined
    const { state, value } = entry
    if (state === 'dialing') this.#change(entry, 'abandoned')
    else this.release(id, value)
    return { state, value }
  }

  /** Frees an id, if it still belongs to this connection. */
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

  /** Removes and answers all connections, at the end of the channel. */
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
