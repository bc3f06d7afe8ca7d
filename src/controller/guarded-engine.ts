import type { Call, Caller } from '../context/call.ts'
import { requireValidSession } from '../credentials/api-session-validity.ts'
import { ControllerEngine } from '../engine/engine.ts'
import { contextOf } from '../engine/entity-services.ts'
import type { CallEngine, HostEngine } from '../engine/host-engine.ts'
import type { StoreEngine } from '../engine/store-engine.ts'
import { authorize } from '../http/pipeline/authorize.ts'
import { hostMethods, METHODS } from './host-methods.ts'
import { type OperationName, rowOf } from './wire-answers.ts'

type Method = (...given: readonly unknown[]) => unknown
/** A row of {@link METHODS}, for any method. */
type AnyRow = readonly [needs: readonly OperationName[], work: (engine: ControllerEngine, ...given: never) => unknown]

/** The engine behind that of a host, for the parts of the controller. */
export let engineOf: (host: HostEngine) => ControllerEngine

/** The parts of an engine that work inside of a transaction: their work lies in the store alone. */
const PARTS_WITHIN = [
  'authPolicies',
  'authenticators',
  'cas',
  'configTypes',
  'configs',
  'edgeRouterPolicies',
  'edgeRouters',
  'enrollments',
  'externalJwtSigners',
  'identities',
  'postureChecks',
  'serviceEdgeRouterPolicies',
  'servicePolicies',
  'services',
  'terminators',
  'transitRouters',
  'trustAnchors',
  'webhooks',
] as const satisfies readonly (keyof CallEngine)[]
export type PartWithin = (typeof PARTS_WITHIN)[number]

/** The engine of a host or of a call: the methods of {@link METHODS}, each with its rights. */
class GuardedEngine {
  readonly #engine: StoreEngine

  static {
    engineOf = (host) => {
      if (!(#engine in host) || !(host.#engine instanceof ControllerEngine))
        throw new TypeError('it is the engine of no controller')
      return host.#engine
    }
  }

  constructor(engine: StoreEngine, make: (row: AnyRow, name: string) => Method, own: object) {
    this.#engine = engine
    const isWithin = !(engine instanceof ControllerEngine)
    for (const [name, rows] of Object.entries(METHODS)) {
      if (isWithin && !PARTS_WITHIN.some((part) => part === name)) continue
      // A host asks for an engine with each request, and calls only a few of its methods.
      let part: object | undefined
      const get = () => {
        part ??= Object.freeze(
          Object.fromEntries(
            Object.entries<AnyRow>(rows).map(([method, row]) => [method, make(row, `${name}.${method}`)]),
          ),
        )
        return part
      }
      Object.defineProperty(this, name, { get, enumerable: true })
    }
    Object.assign(this, own)
    Object.freeze(this)
  }
}

/** The engine for its host inside of a transaction. */
export function engineForHostWithin(engine: StoreEngine): Pick<HostEngine, PartWithin> {
  // As below.
  return new GuardedEngine(engine, hostMethod(engine), {}) as unknown as Pick<HostEngine, PartWithin>
}

/** The engine for its host: a method has the rights of the call that it takes; those of `host` have every right. */
export function engineForHost(engine: ControllerEngine): HostEngine {
  // It has the methods of the table, which the compiler holds to those of the interface.
  return new GuardedEngine(engine, hostMethod(engine), {
    host: Object.freeze(hostMethods(engine)),
  }) as unknown as HostEngine
}

/** The engine in one call, with its rights; the methods that are the host's own are not there. */
export function engineForCall(engine: ControllerEngine, who: Call | Caller): CallEngine
export function engineForCall(engine: StoreEngine, who: Call | Caller): Pick<CallEngine, PartWithin>
export function engineForCall(engine: StoreEngine, who: Call | Caller): CallEngine {
  const call: Call = 'by' in who ? who : { by: 'caller', caller: who }
  const make =
    (row: AnyRow): Method =>
    (...given) =>
      admitted(engine, call, row, given)
  // As above.
  return new GuardedEngine(engine, make, {}) as unknown as CallEngine
}

function hostMethod(engine: StoreEngine): (row: AnyRow, name: string) => Method {
  return (row, name) =>
    async (call, ...given) => {
      if (!isCall(call)) throw new TypeError(`engine.${name} takes a call first, as SYSTEM_CALL is`)
      return admitted(engine, call, row, given)
    }
}

/** Reports whether a value is a call: JavaScript may pass any value for it. */
function isCall(value: unknown): value is Call {
  const by: unknown = Object(value).by
  return by === 'system' || by === 'anonymous' || (by === 'caller' && Object(value).caller !== undefined)
}

/**
 * Does the work of a method in a call that may do each operation that the method needs. The session and the rights of a caller are
 * judged again. Error: `UNAUTHORIZED`.
 */
async function admitted(
  engine: StoreEngine,
  call: Call,
  [needs, work]: AnyRow,
  given: readonly unknown[],
): Promise<unknown> {
  const rows = needs.map(rowOf)
  for (const { shape } of rows) authorize(shape, call)
  const context = contextOf(engine)
  if (call.by === 'caller' && rows.some(({ shape }) => shape.access !== 'public')) {
    await context.storage.read((tx) => requireValidSession(context, tx, call, context.clock.now()))
  }
  return Reflect.apply(work, undefined, [engine, call, ...given])
}
