import type { Call, Caller } from '../context/call.ts'
import { requireValidSession } from '../credentials/api-session-validity.ts'
import type { ControllerEngine } from '../engine/engine.ts'
import { contextOf } from '../engine/entity-services.ts'
import type { CallEngine, HostEngine } from '../engine/host-engine.ts'
import { authorize } from '../http/pipeline/authorize.ts'
import { hostMethods, METHODS } from './host-methods.ts'
import { type OperationName, rowOf } from './wire-answers.ts'

type Method = (...given: readonly unknown[]) => unknown
/** A row of {@link METHODS} whatever its method is. */
type AnyRow = readonly [needs: readonly OperationName[], work: (engine: ControllerEngine, ...given: never) => unknown]

/** The engine behind that of a host, for the parts of the controller. */
export let engineOf: (host: HostEngine) => ControllerEngine

/** The engine of a host or of a call: the methods of {@link METHODS}, each with its rights. */
class GuardedEngine {
  readonly #engine: ControllerEngine

  static {
    engineOf = (host) => {
      if (!(#engine in host)) throw new TypeError('it is the engine of no controller')
      return host.#engine
    }
  }

  constructor(engine: ControllerEngine, make: (row: AnyRow, name: string) => Method, own: object) {
    this.#engine = engine
    for (const [name, rows] of Object.entries(METHODS)) {
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

/** The engine for its host: a method has the rights of the call that it takes; those of `host` have every right. */
export function engineForHost(engine: ControllerEngine): HostEngine {
  const make =
    (row: AnyRow, name: string): Method =>
    async (call, ...given) => {
      if (!isCall(call)) throw new TypeError(`engine.${name} takes a call first, as SYSTEM_CALL is`)
      return admitted(engine, call, row, given)
    }
  // It has the methods of the table, which the compiler holds to those of the interface.
  return new GuardedEngine(engine, make, { host: Object.freeze(hostMethods(engine)) }) as unknown as HostEngine
}

/** The engine in one call, with its rights; the methods that are the host's own are not there. */
export function engineForCall(engine: ControllerEngine, who: Call | Caller): CallEngine {
  const call: Call = 'by' in who ? who : { by: 'caller', caller: who }
  const make =
    (row: AnyRow): Method =>
    (...given) =>
      admitted(engine, call, row, given)
  // As above.
  return new GuardedEngine(engine, make, {}) as unknown as CallEngine
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
  engine: ControllerEngine,
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
