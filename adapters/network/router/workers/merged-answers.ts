import type { FromRouter, Inspected, InspectedValue } from '../../../../src/control-channel.ts'
import { isLocalLink } from './worker-messages.ts'

type Answer<Type extends FromRouter['type']> = Extract<FromRouter, { type: Type }>
type Json = Readonly<Record<string, unknown>>

/** The answers of several workers to one question of a controller, as that of one router; undefined without an answer. */
export function mergedAnswer(answers: readonly FromRouter[]): FromRouter | undefined {
  const [first] = answers
  switch (first?.type) {
    case 'terminators-validated':
      return { ...first, states: statesIn(ofType(answers, first.type)) }
    case 'model-validated':
      return { ...first, differences: [...new Map(differencesIn(ofType(answers, first.type))).values()] }
    case 'traces-set': {
      const all = ofType(answers, first.type)
      const lines = all.map(({ message }) => message).join('')
      return all.find(({ success }) => !success) ?? { ...first, message: lines }
    }
    case 'inspected':
      return inspectedOf(first, ofType(answers, first.type))
    default:
      return first
  }
}

function ofType<Type extends FromRouter['type']>(answers: readonly FromRouter[], type: Type): readonly Answer<Type>[] {
  return answers.filter((answer): answer is Answer<Type> => answer.type === type)
}

/** A terminator is valid where one of the workers has it. */
function statesIn(answers: readonly Answer<'terminators-validated'>[]) {
  const states = new Map<string, { readonly valid: boolean; readonly detail: string }>()
  for (const [id, state] of answers.flatMap((answer) => [...answer.states])) {
    if (state.valid || !states.has(id)) states.set(id, state)
  }
  return states
}

function differencesIn(answers: readonly Answer<'model-validated'>[]) {
  return answers
    .flatMap(({ differences }) => differences)
    .map((difference) => [JSON.stringify(difference), difference] as const)
}

function inspectedOf(first: Inspected, answers: readonly Inspected[]): Inspected {
  const names = [...new Set(answers.flatMap(({ values }) => values.map(({ name }) => name)))]
  const values = names.map((name): InspectedValue => {
    const read = answers.flatMap((answer) => answer.values.filter((value) => value.name === name))
    return { name, value: JSON.stringify(mergedValue(read.map(({ value }) => Object(JSON.parse(value))))) }
  })
  return { ...first, errors: answers.flatMap(({ errors }) => errors), values }
}

/** Lists of all workers one behind the other, and entries of all of them beside each other. */
function mergedValue(values: readonly Json[]): Json {
  const names = [...new Set(values.flatMap((value) => Object.keys(value)))]
  return Object.fromEntries(
    names.map((name) => {
      const members = values.map((value) => value[name]).filter((member) => member !== undefined)
      if (members.every((member) => Array.isArray(member))) return [name, members.flat()]
      const [scalar] = members.filter((member) => typeof member !== 'object')
      if (scalar !== undefined) return [name, scalar]
      const entries = members.flatMap((member) => Object.entries(Object(member)))
      return [name, name === 'circuits' ? mergedCircuits(entries) : Object.fromEntries(mergedEntries(entries))]
    }),
  )
}

/** An identity may have connections at several workers. */
function mergedEntries(entries: readonly (readonly [string, unknown])[]): ReadonlyMap<string, unknown> {
  const merged = new Map<string, unknown>()
  for (const [key, value] of entries) {
    const before = merged.get(key)
    merged.set(key, before === undefined ? value : mergedValue([Object(before), Object(value)]))
  }
  return merged
}

/** A circuit at two workers is one: the local link between them is left out. */
function mergedCircuits(entries: readonly (readonly [string, unknown])[]): Json {
  const known = new Map<string, readonly Json[]>()
  for (const [id, circuit] of entries) known.set(id, [...(known.get(id) ?? []), Object(circuit)])
  return Object.fromEntries(
    [...known].map(([id, parts]) => {
      const routes = parts.flatMap((part) => Object.entries<unknown>(Object(part.routes)))
      const types: Json = Object.assign({}, ...parts.map(({ destinations }) => destinations))
      const ends = routes.filter(([from]) => isLocalLink(from)).map(([, to]) => to)
      const joined = routes
        .filter(([from]) => !isLocalLink(from))
        .map(([from, to]): [string, string] => {
          const isLocal = isLocalLink(String(to))
          return [from, String(isLocal ? (ends.find((end) => end !== from) ?? to) : to)]
        })
      const destinations = Object.fromEntries(joined.map(([, to]) => [to, types[to]]))
      return [id, { ...parts[0], routes: Object.fromEntries(joined), destinations }]
    }),
  )
}
