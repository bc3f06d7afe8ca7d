import { Lifetime } from '../../concurrency/lifetime.ts'
import { logFailure } from '../../context/background-failure.ts'
import type { EngineContext, LinkChange } from '../../context/context.ts'
import type {
  CircuitQuestion,
  CircuitView,
  DialProcess,
  FromHolder,
  ProcessProofs,
  ToHolder,
} from '../../facts/fabric/messages/index.ts'
import type { DialTrace } from '../../facts/fabric/rules/index.ts'
import type { Presence } from '../../routers/presence.ts'
import type { DialQuestion, FollowedDial } from '../circuits/dial-traces.ts'
import type { Holder, RelayedRouters } from './relayed-routers.ts'
import { tellUnread } from './unread-messages.ts'

interface Parts {
  readonly context: EngineContext
  readonly presence: Pick<Presence, 'others'>
  readonly proofs: ProcessProofs
  /** Where routers reach this process. */
  readonly address: string
  /** Undefined where processes cannot reach each other. */
  readonly dial: DialProcess | undefined
  readonly relayed: RelayedRouters
  /** Called with the addresses of the other processes; undefined while they are unknown. */
  readonly onOthers: (addresses: readonly string[] | undefined) => void
}

/** A question to every process, until all have answered or the time is over. */
interface Pending {
  readonly asked: Set<Holder>
  readonly circuits: CircuitView[]
  wasOpen: boolean
  trace: DialTrace | undefined
  readonly settle: () => void
}

/** The answers of all processes to a question. */
type Answers = Pick<Pending, 'circuits' | 'wasOpen' | 'trace'>

/** Milliseconds between looks for other processes, if no event reports one before. */
const PROCESSES_LOOK_MS = 2000
/** Milliseconds after which a process that could not be reached is dialed again. */
const RETRY_MS = 5000
/** Milliseconds within which other processes answer an operator's question; a later answer is ignored. */
const ANSWER_MS = 2000
/** Milliseconds that a dial may take while another process follows it. */
const DIAL_MS = 25_000

/** The other processes over the same store: this one dials each of them, and uses the routers that hold no channel to it. */
export class Holders {
  readonly #parts: Parts
  readonly #holders = new Map<string, Holder>()
  /** The instant (epoch ms) at which a process may be dialed again; an attempt is under way until it fails. */
  readonly #notBefore = new Map<string, number>()
  /** Processes that were reported as out of reach. */
  readonly #unreachable = new Set<string>()
  readonly #pending = new Map<number, Pending>()
  readonly #lifetime = new Lifetime('the fabric is closed')
  #number = 0

  constructor(parts: Parts) {
    this.#parts = parts
    const { timetable } = parts.context
    timetable.onDue('holder-answer', async (numbers) => {
      for (const number of numbers) this.#settle(Number(number))
    })
    if (parts.dial === undefined) return
    parts.onOthers(undefined)
    timetable.onDue('processes', async () => {
      await this.look()
      if (this.#lifetime.isOpen) this.#later()
    })
    this.#later()
    void this.look()
  }

  /** Dials every process without a connection to it. Never rejects. */
  async look(): Promise<void> {
    const { context, presence, address: own, dial } = this.#parts
    if (dial === undefined || !this.#lifetime.isOpen) return
    try {
      const listed = await context.storage.read((tx) => presence.others(tx))
      const others = listed.filter((address) => address !== own)
      this.#parts.onOthers(others)
      for (const address of this.#unreachable) if (!others.includes(address)) this.#unreachable.delete(address)
      for (const address of others) {
        const isDue = context.clock.now() >= (this.#notBefore.get(address) ?? 0)
        if (isDue && !this.#holders.has(address)) void this.#dial(address, dial)
      }
    } catch (error) {
      logFailure(context.logger, 'other processes could not be looked for', error)
    }
  }

  /** The circuits that match a question, of each other process that answers within 2 s. */
  async circuits(question: CircuitQuestion): Promise<readonly CircuitView[]> {
    return (await this.#ask((number) => ({ type: 'list-circuits', number, ...question }))).circuits
  }

  /** Ends a circuit of another process; false if no process that answers within 2 s knows the circuit. */
  async endCircuit(circuitId: string, immediate: boolean): Promise<boolean> {
    return (await this.#ask((number) => ({ type: 'end-circuit', number, circuitId, immediate }))).wasOpen
  }

  /** Waits for the next dial that another process lays; undefined if no dial began within `waitMs`, or every process is gone. */
  followDial(question: DialQuestion, waitMs: number): FollowedDial {
    let asked = 0
    const follow = (number: number): ToHolder => {
      asked = number
      return { type: 'follow-dial', number, ...question, waitMs }
    }
    const trace = this.#ask(follow, waitMs + ANSWER_MS + DIAL_MS).then((answer) => answer.trace)
    const end = () => {
      for (const { channel } of this.#pending.get(asked)?.asked ?? []) {
        channel.send({ type: 'unfollow-dial', number: asked })
      }
    }
    return { trace, end }
  }

  /** Sends the other processes an operator's decision about a link. */
  changeLink(linkId: string, change: LinkChange): void {
    for (const { channel } of this.#holders.values()) channel.send({ type: 'change-link', linkId, ...change })
  }

  close(): void {
    this.#lifetime.end()
    this.#parts.context.timetable.set('processes', 'look', undefined)
    for (const { channel } of this.#holders.values()) channel.close()
  }

  #later(): void {
    const { clock, timetable } = this.#parts.context
    timetable.set('processes', 'look', clock.now() + PROCESSES_LOOK_MS)
  }

  async #dial(address: string, dial: DialProcess): Promise<void> {
    const { context, proofs } = this.#parts
    this.#notBefore.set(address, Number.POSITIVE_INFINITY)
    let holder: Holder | undefined
    let isLost = false
    // Messages that arrive before the channel is ready wait for it.
    const early: FromHolder[] = []
    try {
      const channel = await dial(address, proofs, {
        received: (message) => {
          if (holder === undefined) early.push(message)
          else this.#received(holder, message)
        },
        closed: (failure) => {
          isLost = true
          tellUnread(context, address, failure)
          this.#closed(address, holder)
        },
      })
      if (isLost) return
      if (!this.#lifetime.isOpen) return channel.close()
      this.#unreachable.delete(address)
      holder = { address, channel }
      this.#holders.set(address, holder)
      for (const message of early) this.#received(holder, message)
    } catch (error) {
      if (!this.#unreachable.has(address)) {
        context.logger.warn('another process over the store cannot be reached', { address, error: String(error) })
      }
      this.#unreachable.add(address)
      this.#notBefore.set(address, context.clock.now() + RETRY_MS)
    }
  }

  #closed(address: string, holder: Holder | undefined): void {
    this.#notBefore.set(address, this.#parts.context.clock.now())
    if (holder === undefined || this.#holders.get(address) !== holder) return
    this.#holders.delete(address)
    this.#parts.relayed.lost(holder)
    for (const [number, { asked }] of [...this.#pending])
      if (asked.delete(holder) && asked.size === 0) this.#settle(number)
  }

  #received(holder: Holder, message: FromHolder): void {
    const { relayed } = this.#parts
    switch (message.type) {
      case 'routers':
        relayed.reported(holder, message)
        return
      case 'from-router':
        relayed.received(holder, message.routerId, message.message)
        return
      case 'whose-circuits': {
        const { number, circuitIds } = message
        holder.channel.send({ type: 'own-circuits', number, circuitIds: relayed.ownAmong(circuitIds) })
        return
      }
      case 'circuits':
        this.#pending.get(message.number)?.circuits.push(...message.circuits)
        if (!message.hasMore) this.#answered(holder, message.number)
        return
      case 'circuit-ended': {
        const pending = this.#pending.get(message.number)
        if (pending !== undefined) pending.wasOpen ||= message.wasOpen
        this.#answered(holder, message.number)
        return
      }
      case 'dial-traced': {
        const pending = this.#pending.get(message.number)
        if (pending !== undefined) pending.trace ??= message.trace ?? undefined
        this.#answered(holder, message.number)
        if (message.trace === null || pending === undefined) return
        for (const other of pending.asked) other.channel.send({ type: 'unfollow-dial', number: message.number })
        pending.asked.clear()
        this.#settle(message.number)
      }
    }
  }

  #ask(question: (number: number) => ToHolder, withinMs = ANSWER_MS): Promise<Answers> {
    const holders = [...this.#holders.values()]
    if (holders.length === 0) return Promise.resolve({ circuits: [], wasOpen: false, trace: undefined })
    this.#number += 1
    const number = this.#number
    return new Promise((resolve) => {
      const pending: Pending = {
        asked: new Set(holders),
        circuits: [],
        wasOpen: false,
        trace: undefined,
        settle: () => resolve(pending),
      }
      this.#pending.set(number, pending)
      const { clock, timetable } = this.#parts.context
      timetable.set('holder-answer', String(number), clock.now() + withinMs)
      for (const { channel } of holders) channel.send(question(number))
    })
  }

  #answered(holder: Holder, number: number): void {
    const pending = this.#pending.get(number)
    if (pending?.asked.delete(holder) === true && pending.asked.size === 0) this.#settle(number)
  }

  #settle(number: number): void {
    const pending = this.#pending.get(number)
    if (pending === undefined) return
    this.#pending.delete(number)
    this.#parts.context.timetable.set('holder-answer', String(number), undefined)
    for (const { address } of pending.asked) {
      this.#parts.context.logger.warn('another process did not answer in time and is left out', { address })
    }
    pending.settle()
  }
}
