import { z } from 'zod'
import { APIS } from '../apis/apis.ts'
import type { Call } from '../context/call.ts'
import type { ControllerEngine } from '../engine/engine.ts'
import type { ListQuestion } from '../engine/host-entities.ts'
import type { ShownOf } from '../facts/resources/wire-forms.ts'
import { readListQuery } from '../http/operations/list-query.ts'
import type { Answer, Operation } from '../http/operations/operation.ts'
import { readId, readRequest } from '../kernel/declaration/read-body.ts'
import type { RecordOf, Resource } from '../kernel/declaration/resource.ts'
import type { Page } from '../ports/record-storage.ts'

type Api = keyof typeof APIS
/** An operation of the APIs, by its API and its route. */
export type OperationName = `${Api} ${string}`

/** The row of an operation; an unknown name is a programming error. */
export function rowOf(name: OperationName): Operation {
  const place = name.indexOf(' ')
  const route = name.slice(place + 1)
  // The names of APIs hold no space.
  const row = APIS[name.slice(0, place) as Api].find(({ shape }) => shape.route === route)
  if (row === undefined) throw new TypeError(`no API has the operation ${name}`)
  return row
}

const Question = z.object({
  filter: z.string().optional(),
  sort: z.string().optional(),
  limit: z.int().optional(),
  offset: z.int().optional(),
})

/** A page of entities, as the operation that lists them answers it. `Shown` is the wire form by which its row is declared. */
export async function listedBy<Shown>(
  name: OperationName,
  engine: ControllerEngine,
  call: Call,
  question: ListQuestion = {},
): Promise<Page<Shown>> {
  const row = rowOf(name)
  const parameters = Object.entries(readRequest(Question, question)).map(([key, value]): [string, string] => [
    key,
    String(value),
  ])
  const find = readListQuery(new URLSearchParams(parameters), row.shape.symbols ?? {}, row.shape.byRole)
  const { page } = await answerOf(row, { engine, call, query: {}, find })
  return inWireForm(page)
}

/** One entity, as the operation that shows it answers it. `Shown` is the wire form by which its row is declared. */
export async function shownBy<Shown>(
  name: OperationName,
  engine: ControllerEngine,
  call: Call,
  id: string,
): Promise<Shown> {
  const { data } = await answerOf(rowOf(name), { engine, call, query: {}, params: { id: readId(id) } })
  return inWireForm(data)
}

/** A record that was just written, in its wire form. */
export async function shown<R extends Resource>(
  engine: ControllerEngine,
  call: Call,
  resource: R,
  record: RecordOf<R>,
): Promise<ShownOf<R>> {
  return inWireForm(await engine.reader.show(call, resource, record))
}

/** Calls a row with the input of its kind of operation: a query for a list, an id for one entity. */
function answerOf(row: Operation, input: object): Promise<Answer> {
  return row.handle(input as never)
}

/** Turns a value into its wire form: instants become RFC 3339 text. */
function inWireForm<T>(value: unknown): T {
  return JSON.parse(JSON.stringify(value))
}
