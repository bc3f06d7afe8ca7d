import { didYouMean } from '../base/arguments.ts'
import { isMap } from '../base/members.ts'
import { readAssertion } from './assertions.ts'
import { kindOfKey, linksOf, MODEL_KEYS, type ModelKey, type ModelKind } from './managed-kinds.ts'
import { ModelError, type Path, type Problem, pathText, placeText, type Source } from './model-problem.ts'
import type { Model, ModelAssertion, ModelEntity } from './network-model.ts'
import { entityProblems } from './read-entity.ts'

/** The member of a model file that holds its assertions. */
const ASSERTIONS = 'assertions'

/** Reads sources as one model; files may refer to entities of each other. Throws {@link ModelError} with all mistakes and their places. */
export function readSources(sources: readonly Source[]): Model {
  const problems: Problem[] = []
  const entities: ModelEntity[] = []
  const assertions: ModelAssertion[] = []
  const listed = new Set<ModelKey>()
  for (const source of sources) {
    if (source.value === null || source.value === undefined) {
      problems.push({ place: source.place([]), subject: '', message: 'is empty: write {} for a model of nothing' })
      continue
    }
    if (!isMap(source.value)) {
      problems.push({ place: source.place([]), subject: '', message: 'a model is a map of lists of entities' })
      continue
    }
    problems.push(...unknownKeys(source, source.value))
    for (const key of MODEL_KEYS) {
      const kind = kindOfKey(key)
      if (Array.isArray(Reflect.get(source.value, key))) listed.add(key)
      for (const [path, value] of listIn(source, source.value, key, problems)) {
        const entity = readEntity(kind, source, path, value, problems)
        if (entity !== undefined) entities.push(entity)
      }
    }
    for (const [path, value] of listIn(source, source.value, ASSERTIONS, problems)) {
      const read = readAssertion(value)
      if ('assertions' in read) {
        for (const { assertion, path: cell } of read.assertions) {
          assertions.push({ assertion, place: (inner = []) => source.place([...path, ...cell, ...inner]) })
        }
      } else {
        for (const { path: inner, message } of read.problems) {
          problems.push({ place: source.place([...path, ...inner]), subject: pathText([...path, ...inner]), message })
        }
      }
    }
  }
  problems.push(...doubled(entities))
  if (problems.length > 0) throw new ModelError(problems)
  return { entities, assertions, listed }
}

function unknownKeys(source: Source, value: object): readonly Problem[] {
  const known: readonly string[] = [...MODEL_KEYS, ASSERTIONS]
  return Object.keys(value)
    .filter((key) => !known.includes(key))
    .map((key) => ({
      place: source.place([key]),
      subject: key,
      message: `a model has no such member${didYouMean(key, known) || `; it may have ${known.join(', ')}`}`,
    }))
}

function listIn(
  source: Source,
  value: object,
  key: string,
  problems: Problem[],
): readonly (readonly [Path, unknown])[] {
  const list: unknown = Reflect.get(value, key)
  if (list === undefined) return []
  if (list === null) {
    problems.push({ place: source.place([key]), subject: key, message: 'is empty: write [], or leave it out' })
    return []
  }
  if (Array.isArray(list)) return list.map((one: unknown, position) => [[key, position], one] as const)
  problems.push({
    place: source.place([key]),
    subject: key,
    message: 'must be a list: begin each entity with - in a line of its own',
  })
  return []
}

function readEntity(
  kind: ModelKind,
  source: Source,
  path: Path,
  written: unknown,
  problems: Problem[],
): ModelEntity | undefined {
  if (!isMap(written)) {
    problems.push({
      place: source.place(path),
      subject: pathText(path),
      message: 'must be a map, as { name: payroll }',
    })
    return undefined
  }
  const body = { ...kind.assumed, ...written }
  const name = typeof body.name === 'string' && body.name !== '' ? body.name : undefined
  for (const { path: inner, message } of entityProblems(kind, body)) {
    const subject = [name === undefined ? pathText(path) : `${kind.key} '${name}'`, pathText(inner)]
    const place = source.place([...path, ...inner])
    problems.push({ place, subject: subject.filter((part) => part !== '').join(', '), message })
  }
  return name === undefined
    ? undefined
    : { key: kind.key, name, body, place: (inner = []) => source.place([...path, ...inner]) }
}

function doubled(entities: readonly ModelEntity[]): readonly Problem[] {
  const seen = new Map<string, ModelEntity>()
  return entities.flatMap((entity) => {
    const { key, name, place } = entity
    const first = seen.get(`${key} ${name}`)
    if (first !== undefined) {
      const message = `is there twice, first at ${placeText(first.place(['name']))}: give one of them another name`
      return [{ place: place(['name']), subject: `${key} '${name}'`, message }]
    }
    seen.set(`${key} ${name}`, entity)
    return []
  })
}

/** Refuses references to entities that are neither in the model nor among the others. Throws {@link ModelError} with all of them. */
export function requireLinks(model: Model, others: Iterable<{ readonly key: string; readonly name: string }>): void {
  const names = new Map<string, Set<string>>(MODEL_KEYS.map((key) => [key, new Set()]))
  for (const { key, name } of [...model.entities, ...others]) names.get(key)?.add(name)
  const problems = model.entities.flatMap((entity) =>
    linksOf(kindOfKey(entity.key), entity.body)
      .filter(({ to, name }) => !names.get(to)?.has(name))
      .map(({ to, name, path }) => ({
        place: entity.place(path),
        subject: `${entity.key} '${entity.name}', ${pathText(path)}`,
        message: `no member of ${to} is named '${name}'${didYouMean(name, names.get(to) ?? []) || `: add it to ${to}`}`,
      })),
  )
  if (problems.length > 0) throw new ModelError(problems)
}
