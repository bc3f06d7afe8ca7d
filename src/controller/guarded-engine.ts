import { z } from 'zod'
import { ControllerError } from '../base/errors.ts'
import type { Call, Caller } from '../context/call.ts'
import { requireValidSession } from '../credentials/api-session-validity.ts'
import { type ControllerEngine, contextOf } from '../engine/engine.ts'
import type { CallEngine, HostEngine } from '../engine/host-engine.ts'
import { readListQuery } from '../http/operations/list-query.ts'
import type { Answer, Operation } from '../http/operations/operation.ts'
import { authorize } from '../http/pipeline/authorize.ts'
import { readId, readRequest } from '../kernel/declaration/read-body.ts'
import { RIGHTS, type Right, rowOf } from './call-rights.ts'

type Method = (...given: readonly unknown[]) => unknown
type MakeMethod = (run: Method, right: Right, row: Operation | undefined) => Method | undefined

/** The engine behind that of a host, for the parts of the controller. */
export let engineOf: (host: HostEngine) => ControllerEngine

/** The engine of a host or of a call: the methods of {@link RIGHTS} that are made for it, each with its right. */
class GuardedEngine {
  readonly #engine: ControllerEngine

  static {
    engineOf = (host) => {
      if (!(#engine in host)) throw new TypeError('it is the engine of no controller')
      return host.#engine
    }
  }

  constructor(engine: ControllerEngine, make: MakeMethod) {
    this.#engine = engine
    const made = (run: Method, right: Right) => make(run, right, rowOf(right))
    for (const [name, rights] of Object.entries(RIGHTS)) {
      if (isRight(rights)) {
        const value = made(methodOf(engine, name), rights)
        if (value !== undefined) Object.defineProperty(this, name, { value, enumerable: true })
        continue
      }
      // A host asks for an engine with each request, and calls only a few of its methods.
      let part: object | undefined
      const get = () => {
        part ??= Object.freeze(
          Object.fromEntries(
            Object.entries(rights)
              .map(([method, right]) => [method, made(runOf(engine, name, method, right), right)] as const)
              .filter(([, method]) => method !== undefined),
          ),
        )
        return part
      }
      Object.defineProperty(this, name, { get, enumerable: true })
    }
    Object.freeze(this)
  }
}

/** The engine for its host: every method has the rights of its call, or those of the host. */
export function engineForHost(engine: ControllerEngine): HostEngine {
  const guarded = new GuardedEngine(engine, (run, right, row) => {
    if (typeof right === 'object') return run
    return async (call, ...given) => run(await admitted(engine, call as Call, row), ...given)
  })
  // It has the methods of the table, which the compiler holds to those of the interface.
  return guarded as unknown as HostEngine
}

/** The engine in one call, with its rights; the methods that are the host's own are not there. */
export function engineForCall(engine: ControllerEngine, who: Call | Caller): CallEngine {
  const call: Call = 'by' in who ? who : { by: 'caller', caller: who }
  const guarded = new GuardedEngine(engine, (run, right, row) => {
    if (row === undefined) return undefined
    return async (...given) => {
      const admittedCall = await admitted(engine, call, row)
      return typeof right === 'object' ? run(...given) : run(admittedCall, ...given)
    }
  })
  // As above.
  return guarded as unknown as CallEngine
}

/**
 * Admits a call to an operation by its row; a method without a row is the host's own. The session and the rights of a
 * caller are judged again. Error: `UNAUTHORIZED`.
 */
async function admitted(engine: ControllerEngine, call: Call, row: Operation | undefined): Promise<Call> {
  if (row === undefined) {
    if (call.by !== 'system') throw new ControllerError('UNAUTHORIZED')
    return call
  }
  authorize(row.shape, call)
  const context = contextOf(engine)
  if (row.shape.access === 'public' || call.by !== 'caller') return call
  await context.storage.read((tx) => requireValidSession(context, tx, call, context.clock.now()))
  return call
}

function isRight(rights: object | string): rights is Right {
  return typeof rights === 'string' || 'withoutCall' in rights
}

/** The work of a method: the engine's own, or the row's where the answer has wire form. */
function runOf(engine: ControllerEngine, part: string, method: string, right: Right): Method {
  const row = rowOf(right)
  if (row !== undefined && row.shape.symbols !== undefined && method === 'list' && part !== 'trustAnchors') {
    return (call, question) => listed(engine, row, call, question)
  }
  if (row !== undefined && method === 'show') return (call, id) => shown(engine, row, call, id)
  return methodOf(Reflect.get(engine, part), method)
}

function methodOf(owner: object, name: string): Method {
  const method: unknown = Reflect.get(owner, name)
  if (typeof method !== 'function') throw new TypeError(`the engine has no method ${name}`)
  return (...given) => Reflect.apply(method, owner, given)
}

const Question = z.object({
  filter: z.string().optional(),
  sort: z.string().optional(),
  limit: z.int().optional(),
  offset: z.int().optional(),
})

async function listed(engine: ControllerEngine, row: Operation, call: unknown, question: unknown = {}) {
  const asked = readRequest(Question, question)
  const parameters = Object.entries(asked).map(([name, value]): [string, string] => [name, String(value)])
  const find = readListQuery(new URLSearchParams(parameters), row.shape.symbols ?? {}, row.shape.byRole)
  const { page } = await answerOf(row, { engine, call, query: {}, find })
  return wireForm(page)
}

async function shown(engine: ControllerEngine, row: Operation, call: unknown, id: unknown) {
  // `readId` refuses a value that is no text.
  const { data } = await answerOf(row, { engine, call, query: {}, params: { id: readId(id as string) } })
  return wireForm(data)
}

/** Calls a row with the input of its kind of operation: a query for a list, an id for one entity. */
function answerOf(row: Operation, input: object): Promise<Answer> {
  return row.handle(input as never)
}

/** Turns a value into its wire form: instants become RFC 3339 text. */
function wireForm(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}
