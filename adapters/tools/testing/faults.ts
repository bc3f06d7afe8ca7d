import { AsyncLocalStorage } from 'node:async_hooks'
import { checkArgument, checkOptions, didYouMean, type OptionRule } from '../../../src/base/arguments.ts'
import { listed } from '../../../src/base/text.ts'
import type { ControllerFetch, Scheduler, Storage } from '../../../src/index.ts'
import { type JoinableStorage, type JoinWrite, StorageUnavailable } from '../../../src/storage.ts'
import { knownRoutes, operationAt, type Route } from '../../../src/testing.ts'

/** The fault of a request. */
export type Fault =
  /** It is refused unread; the answer says `retryAfterMs` in whole seconds. */
  | { readonly status: 429 | 503; readonly retryAfterMs?: number }
  /**
   * It waits for these ms of the controller's clock, which a test turns, before it is looked at; a request whose `signal` is
   * aborted meanwhile is not looked at.
   */
  | { readonly delayMs: number }
  /** Its connection breaks: after it was done, when `after` is true, otherwise before. */
  | { readonly drop: true; readonly after?: boolean }
  /** The storage cannot be reached while it is done. */
  | { readonly storage: 'unreachable' }

/** The requests of a fault: requests to a route, in whichever API has it, or requests that a function picks. Default: all. */
export type FaultFilter = Route | ((request: Request) => boolean)

/** The faults that a test causes. */
export interface Faults {
  /**
   * Causes the fault with the next request. Several faults come in the order of their calls.
   *
   * @example
   * net.faults.next({ status: 503 }, 'POST /sessions')
   */
  next(fault: Fault, of?: FaultFilter): void
  /** Lets it go wrong with every n-th request from now on. */
  every(n: number, fault: Fault, of?: FaultFilter): void
  /** Lets nothing go wrong any more. */
  clear(): void
}

/** The error of `fetch` for a broken connection. */
export class ConnectionDropped extends TypeError {
  constructor() {
    super('fetch failed', { cause: Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }) })
  }
}

/** The members of each kind of fault, by its distinctive member. */
const FAULTS: Readonly<Record<string, Readonly<Record<string, OptionRule>>>> = {
  status: { status: { shape: 'number', problem: statusProblem }, retryAfterMs: 'number' },
  delayMs: { delayMs: 'number' },
  drop: {
    drop: { shape: 'boolean', problem: (drop: boolean) => (drop ? undefined : 'is true, or left out') },
    after: 'boolean',
  },
  storage: { storage: { oneOf: ['unreachable'] } },
}

function statusProblem(status: number): string | undefined {
  return status === 429 || status === 503 ? undefined : `takes 429 or 503, not ${status}`
}

function checkFault(owner: string, fault: Fault, of: FaultFilter): void {
  const hint = 'an object with one of status, delayMs, drop, storage'
  checkArgument(owner, 'fault', fault, { isNeeded: true, hint })
  const kind = Object.keys(FAULTS).find((name) => name in fault)
  if (kind === undefined) {
    const given = Object.keys(fault).map((name) => `${name}${didYouMean(name, Object.keys(FAULTS))}`)
    throw new TypeError(`${owner} takes ${hint}${given.length === 0 ? '' : `, not ${listed(given)}`}`)
  }
  checkOptions(owner, fault, FAULTS[kind] ?? {})
  if (typeof of === 'string' && !knownRoutes().includes(of)) {
    throw new TypeError(`${owner}: no operation has the route '${of}'${didYouMean(of, knownRoutes())}`)
  }
  if (typeof of !== 'string') checkArgument(owner, 'of', of, { shape: 'function', hint: 'a route or a function' })
}

function picks(of: FaultFilter, request: Request): boolean {
  if (typeof of !== 'string') return of(request)
  return operationAt(request.method, new URL(request.url).pathname)?.route === of
}

interface Plan {
  readonly fault: Fault
  readonly of: FaultFilter
  readonly every: number | undefined
  seen: number
}

/** The faults that can occur, and the place where each has to be put in between. */
export interface FaultPlan {
  readonly faults: Faults
  around(fetch: ControllerFetch, clock: { now(): number }, scheduler: Scheduler): ControllerFetch
  storage(storage: Storage | JoinableStorage): Storage | JoinableStorage
}

/** A plan without faults. */
export function faultPlan(): FaultPlan {
  let plans: Plan[] = []
  const unreachable = new AsyncLocalStorage<boolean>()

  const faultOf = (request: Request): Fault | undefined => {
    let found: Plan | undefined
    for (const plan of plans) {
      if (!picks(plan.of, request)) continue
      plan.seen += 1
      if (found === undefined && plan.seen % (plan.every ?? 1) === 0) found = plan
    }
    if (found?.every === undefined) plans = plans.filter((plan) => plan !== found)
    return found?.fault
  }
  const reach = <T>(work: () => Promise<T>): Promise<T> => {
    if (unreachable.getStore() !== true) return work()
    return Promise.reject(new StorageUnavailable('unreachable', 'a test asked for it'))
  }
  return {
    faults: {
      next: (fault, of = () => true) => {
        checkFault('faults.next', fault, of)
        plans.push({ fault, of, every: undefined, seen: 0 })
      },
      every: (n, fault, of = () => true) => {
        checkFault('faults.every', fault, of)
        if (!Number.isInteger(n) || n < 1) throw new RangeError(`every ${n}: it takes a whole number from 1 on`)
        plans.push({ fault, of, every: n, seen: 0 })
      },
      clear: () => {
        plans = []
      },
    },
    around: (fetch, clock, scheduler) => async (request, connection) => {
      const fault = faultOf(request)
      if (fault === undefined) return fetch(request, connection)
      if ('status' in fault) return refusal(fault)
      if ('delayMs' in fault) {
        await passed(clock.now() + fault.delayMs, scheduler, request.signal)
        return fetch(request, connection)
      }
      if ('storage' in fault) return unreachable.run(true, () => fetch(request, connection))
      if (fault.after === true) await fetch(request, connection)
      throw new ConnectionDropped()
    },
    storage: (storage) => ({
      ...(storage.isVolatile && { isVolatile: true }),
      read: (work, options) => reach(() => storage.read(work, options)),
      write: (work) => reach(() => storage.write(work)),
      close: () => storage.close(),
      ...('joinedBy' in storage && { joinedBy: (join: JoinWrite) => storage.joinedBy(join) }),
      ...(storage.snapshot && { snapshot: () => storage.snapshot?.() ?? Promise.resolve(undefined) }),
    }),
  }
}

/** Resolves at an instant of the scheduler's clock; rejects with the reason of `signal` when that is aborted before. */
function passed(instant: number, scheduler: Scheduler, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      cancel()
      reject(signal.reason)
    }
    const cancel = scheduler.at(instant, async () => {
      signal.removeEventListener('abort', giveUp)
      resolve()
    })
    if (signal.aborted) giveUp()
    else signal.addEventListener('abort', giveUp, { once: true })
  })
}

const REFUSALS = {
  429: { code: 'RATE_LIMITED', message: 'The request was refused because of too many requests' },
  503: { code: 'TIMEOUT', message: 'The request could not be completed in time' },
} as const

function refusal({ status, retryAfterMs }: Extract<Fault, { readonly status: number }>): Response {
  const error = { ...REFUSALS[status], requestId: 'fault', cause: null }
  const headers = new Headers({ 'content-type': 'application/json' })
  if (retryAfterMs !== undefined) headers.set('retry-after', String(Math.ceil(retryAfterMs / 1000)))
  return new Response(JSON.stringify({ error, meta: {} }), { status, headers })
}
