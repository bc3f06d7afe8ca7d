import type { EngineContext } from '../../context/context.ts'
import type { CircuitFailure } from '../../facts/access/explain/service-reach.rules.ts'
import { type DialTrace, type Path, type TracedAttempt, UNKNOWN_LATENCY_MS } from '../../facts/fabric/rules/index.ts'
import { RouterRefusal } from '../channels/channel-admission.ts'
import type { Network } from '../channels/network.ts'
import type { DialRight } from './dial-rights.ts'
import type { SettledAttempt } from './route-exchange.ts'
import type { Terminator } from './terminator-selection.ts'

/** The dials that a caller waits for. */
export interface DialQuestion {
  readonly identityId: string
  readonly serviceId: string
}

/** A wait for a dial. */
export interface FollowedDial {
  /** The first dial that ended; undefined where no dial began in time, or the wait was ended. */
  readonly trace: Promise<DialTrace | undefined>
  end(): void
}

interface Follower extends DialQuestion {
  /** The caller that waits; undefined for another process. */
  readonly asker: string | undefined
  readonly settle: (trace: DialTrace | undefined) => void
}

/** Waits of one identity: a further one ends its oldest. */
const MOST_OF_ONE = 8
/** Waits of all identities: a further one ends the oldest. */
const MOST = 64
/** Milliseconds that a dial which began in time may still take. */
const GRACE_MS = 25_000
/** Milliseconds of a dial after which clients give up: the trace then waits for the client to start the circuit. */
const SLOW_MS = 2000
/** Milliseconds of that wait: routers report a client that does not start a circuit within 5 s. */
const START_WAIT_MS = 6500

/** Follows dials from the request of a router until its answer, while a caller waits for a dial. */
export class DialTraces {
  readonly #context: EngineContext
  readonly #network: Network
  /** The oldest first. */
  readonly #followers = new Map<string, Follower>()
  readonly #underWay = new Set<DialRecord>()
  /** Slow dials that succeeded, by their circuits: their clients may have given up. */
  readonly #slow = new Map<string, DialTrace>()

  constructor(context: EngineContext, network: Network) {
    this.#context = context
    this.#network = network
    context.timetable.onDue('dial-trace', async (ids) => {
      for (const id of ids) this.#due(id)
    })
  }

  /** Waits for the next dial of an identity to a service that begins within `waitMs`. */
  follow({ identityId, serviceId }: DialQuestion, waitMs: number, asker?: string): FollowedDial {
    this.#makeRoom(asker)
    const { clock, random, timetable } = this.#context
    const id = random.uuid()
    const trace = new Promise<DialTrace | undefined>((settle) => {
      this.#followers.set(id, { identityId, serviceId, asker, settle })
    })
    timetable.set('dial-trace', id, clock.now() + waitMs)
    return { trace, end: () => this.#settle(id, undefined) }
  }

  /** A router asks for a circuit; undefined where no caller follows dials. */
  begin(circuitId: string, routerId: string): DialRecord | undefined {
    if (this.#followers.size === 0) return undefined
    const record = new DialRecord(this.#context, this.#network, circuitId, routerId)
    this.#underWay.add(record)
    return record
  }

  /** A dial is over: it was refused if there is an error. */
  over(record: DialRecord, error: unknown): void {
    this.#underWay.delete(record)
    const trace = record.ended(error)
    if (trace === undefined) return
    if (trace.failure !== null || trace.tookMs < SLOW_MS) this.#tell(trace)
    else if ([...this.#followers.values()].some((follower) => concerns(follower, trace))) {
      const { clock, timetable } = this.#context
      this.#slow.set(trace.circuitId, trace)
      timetable.set('dial-trace', trace.circuitId, clock.now() + START_WAIT_MS)
    }
  }

  /** The client of a circuit did not start it. */
  givenUp(circuitId: string): void {
    const trace = this.#slow.get(circuitId)
    if (trace !== undefined) this.#told({ ...trace, failure: 'client-gave-up' })
  }

  #told(trace: DialTrace): void {
    this.#slow.delete(trace.circuitId)
    this.#context.timetable.set('dial-trace', trace.circuitId, undefined)
    this.#tell(trace)
  }

  #tell(trace: DialTrace): void {
    for (const [id, follower] of [...this.#followers]) if (concerns(follower, trace)) this.#settle(id, trace)
  }

  #makeRoom(asker: string | undefined): void {
    const counted = [...this.#followers].filter(([, follower]) => follower.asker !== undefined)
    const [oldest] = counted
    const own = counted.filter(([, follower]) => follower.asker === asker)
    if (own.length >= MOST_OF_ONE && own[0] !== undefined) this.#settle(own[0][0], undefined)
    else if (asker !== undefined && counted.length >= MOST && oldest !== undefined) this.#settle(oldest[0], undefined)
  }

  #due(id: string): void {
    const slow = this.#slow.get(id)
    if (slow !== undefined) this.#told(slow)
    const follower = this.#followers.get(id)
    if (follower === undefined) return
    const { clock, timetable } = this.#context
    const now = clock.now()
    const dialed = [...this.#slow.values()].find((trace) => concerns(follower, trace))
    const awaited = [...this.#underWay].filter(({ at, about }) => {
      return now < at + GRACE_MS && (about === undefined || concerns(follower, about))
    })
    if (dialed !== undefined || awaited.length === 0) this.#settle(id, dialed)
    else timetable.set('dial-trace', id, Math.max(...awaited.map(({ at }) => at)) + GRACE_MS)
  }

  #settle(id: string, trace: DialTrace | undefined): void {
    const follower = this.#followers.get(id)
    this.#followers.delete(id)
    this.#context.timetable.set('dial-trace', id, undefined)
    follower?.settle(trace)
  }
}

function concerns(follower: DialQuestion, { identityId, serviceId }: DialQuestion): boolean {
  return follower.identityId === identityId && follower.serviceId === serviceId
}

/** A dial under way, as far as it is known. */
export class DialRecord {
  /** Epoch ms of the request. */
  readonly at: number
  readonly #clock: EngineContext['clock']
  readonly #network: Network
  readonly #circuitId: string
  readonly #routerId: string
  readonly #attempts: TracedAttempt[] = []
  #allowedMs: number | null = null
  #about: DialQuestion | undefined
  #failure: CircuitFailure | undefined

  constructor({ clock }: EngineContext, network: Network, circuitId: string, routerId: string) {
    this.#clock = clock
    this.#network = network
    this.#circuitId = circuitId
    this.#routerId = routerId
    this.at = clock.now()
  }

  /** The dialing identity and the service; undefined until the dial was judged. */
  get about(): DialQuestion | undefined {
    return this.#about
  }

  /** Milliseconds since the request. */
  elapsed(): number {
    return this.#clock.now() - this.at
  }

  allowed({ claim, service }: Pick<DialRight, 'claim' | 'service'>): void {
    this.#allowedMs ??= this.elapsed()
    this.#about = { identityId: claim.identityId, serviceId: service.id }
  }

  attempted({ attempt, answers }: SettledAttempt, terminator: Terminator, askedMs: number): void {
    const { path, failure } = attempt
    this.#attempts.push({
      terminatorId: terminator.id,
      hostId: terminator.hostId,
      cost: path.cost,
      askedMs,
      hops: path.routers.map((routerId, position) => {
        const answer = answers.get(routerId)
        const answeredMs = answer === undefined ? null : answer.at - this.at
        return { routerId, link: this.#linkBefore(path, position), answeredMs, cause: answer?.cause ?? null }
      }),
      failure: failure === undefined ? null : { routerId: failure.routerId, cause: failure.cause },
    })
  }

  failed(reason: CircuitFailure): void {
    this.#failure = reason
  }

  /** The whole trace; undefined where the dialing identity stayed unknown. */
  ended(error: unknown): DialTrace | undefined {
    const refused = error instanceof RouterRefusal ? error : undefined
    const { identityId, serviceId } = this.#about ?? refused?.claim ?? {}
    if (identityId === undefined || serviceId === undefined) return undefined
    const failure = error === undefined ? null : (this.#failure ?? 'not-allowed')
    return {
      circuitId: this.#circuitId,
      identityId,
      serviceId,
      routerId: this.#routerId,
      at: this.at,
      allowedMs: this.#allowedMs,
      attempts: this.#attempts,
      failure,
      refusal: failure === 'not-allowed' ? (refused?.message ?? 'the controller failed') : null,
      tookMs: this.elapsed(),
    }
  }

  #linkBefore(path: Path, position: number): TracedAttempt['hops'][number]['link'] {
    const id = path.links[position - 1]
    if (id === undefined) return null
    const { sourceLatencyMs = UNKNOWN_LATENCY_MS, targetLatencyMs = UNKNOWN_LATENCY_MS } = this.#network.get(id) ?? {}
    const latencyMs = Math.max(sourceLatencyMs, targetLatencyMs)
    return { id, latencyMs: latencyMs < UNKNOWN_LATENCY_MS ? Math.round(latencyMs * 10) / 10 : null }
  }
}
