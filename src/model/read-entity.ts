import { didYouMean } from '../base/arguments.ts'
import { ControllerError } from '../base/errors.ts'
import { isMap, textsIn } from '../base/members.ts'
import { listed } from '../base/text.ts'
import { membersOf, POSTURE_CHECK_TYPE_IDS } from '../facts/access/posture/rules/index.ts'
import { readCreate } from '../facts/resources/entity-requests.ts'
import { inputName } from '../kernel/declaration/quirks.ts'
import { FORMS } from './assertions.ts'
import { type Body, type ModelKind, SERVICE_CONFIGS } from './managed-kinds.ts'
import { type Path, pathOf } from './model-problem.ts'

/** The controller's message for a value outside of a list of choices. */
const CHOICES = /should be one of \[(.*)\]$/

/** A value that is no choice of any member, so that the controller's message lists the choices. */
const NO_CHOICE = '?'

/** A mistake in an entity, with its member. */
export interface EntityProblem {
  readonly path: Path
  readonly message: string
}

/** Finds the mistakes in an entity of a model file, by the same declaration as the API reads requests. */
export function entityProblems(kind: ModelKind, body: Body): readonly EntityProblem[] {
  const { [SERVICE_CONFIGS]: pairs, ...request } = body
  return [
    ...unknownMembers(kind, body),
    ...emptyMembers(kind, body),
    ...requestProblems(kind, request),
    ...pairProblems(kind, pairs),
    ...roleProblems(kind, request),
  ]
}

/** The API treats null as an unsent member; in a file it means that a value is missing after the colon. */
function emptyMembers({ resource }: ModelKind, body: Body): readonly EntityProblem[] {
  const required: readonly string[] = resource.definition.required
  return Object.entries(body).flatMap(([member, value]) => {
    // A missing required member is already reported.
    if (value !== null || required.includes(member)) return []
    return [{ path: [member], message: 'is empty: give it a value, or leave it out' }]
  })
}

function requestProblems(kind: ModelKind, request: Body): readonly EntityProblem[] {
  try {
    const read = readCreate(kind.resource, request)
    if (read.name === '' || String(read.name).trim() === '') return [{ path: ['name'], message: 'is required' }]
    return undeclared(request, inRequestNames(kind, read), [])
  } catch (error) {
    if (!(error instanceof ControllerError)) throw error
    const field = error.details?.field ?? /^([\w.]+) in input/.exec(error.message)?.[1] ?? ''
    const path = field === 'input' ? [] : pathOf(field)
    const value = path.reduce<unknown>((inside, part) => Reflect.get(Object(inside), part), request)
    const message = error.message.replace(`${field} in input `, '').replace(`${field} `, '')
    const choices = message === 'is required' && path.length === 1 ? choicesOf(kind, request, field) : undefined
    return [{ path, message: choices === undefined ? inWordsOfFiles(message, value) : `${message}: ${choices}` }]
  }
}

/** The choices of a member, as `Device or User`; undefined for a member without choices. */
function choicesOf(kind: ModelKind, request: Body, member: string): string | undefined {
  try {
    readCreate(kind.resource, { ...request, [member]: NO_CHOICE })
    return undefined
  } catch (error) {
    const [, choices] = CHOICES.exec(error instanceof Error ? error.message : '') ?? []
    return choices && listed(choices.split(' '), 'or')
  }
}

/** A message of the controller about a value, in words for files and with the fix. The field is shown beside it. */
function inWordsOfFiles(message: string, value: unknown): string {
  const [, form] = /^must be of type (\w+)$/.exec(message) ?? []
  if (form === 'string' && typeof value !== 'object') return `must be a text: '${value}' in quotes`
  if (form === 'array' && typeof value === 'string') return `must be a list, as ['${value}']`
  if (form !== undefined) return `must be ${FORMS[form] ?? `a ${form}`}`
  const [, allowed] = CHOICES.exec(message) ?? []
  return allowed === undefined ? message : `${message}${didYouMean(String(value), allowed.split(' '))}`
}

/** The controller ignores unknown members, and members of another type of posture check. In a file they are mistakes. */
function unknownMembers({ key, resource }: ModelKind, body: Body): readonly EntityProblem[] {
  const { spellings = (given: Body) => given } = resource.definition.quirks ?? {}
  const known = [...Object.keys(resource.create.shape), ...(key === 'identities' ? [SERVICE_CONFIGS] : [])]
  const isKnown = (member: string) => {
    const { [member]: _, ...others } = body
    if (Object.hasOwn(spellings(body), member)) return known.includes(member)
    return !sameValue(spellings(body), spellings(others))
  }
  const unknown = Object.keys(body).filter((member) => !isKnown(member))
  if (key !== 'postureChecks') return unknown.map((member) => unknownMember(member, known))
  const typeId = POSTURE_CHECK_TYPE_IDS.find((type) => type === body.typeId)
  const common = ['name', 'typeId', 'roleAttributes', 'tags']
  const own = typeId === undefined ? known : [...common, ...Object.keys(membersOf(typeId))]
  return unknown.flatMap((member) => {
    if (!known.includes(member)) return [unknownMember(member, own)]
    // A check of an unknown type has no known members; its type is reported separately.
    if (typeId === undefined) return []
    const has = own.filter((one) => !common.includes(one)).join(', ') || 'no members of its own'
    return [{ path: [member], message: `belongs to another type: a check of the type ${typeId} has ${has}` }]
  })
}

function unknownMember(member: string, known: readonly string[]): EntityProblem {
  return { path: [member], message: `is unknown${didYouMean(member, known)}` }
}

/** Nested members that reading has dropped. */
function undeclared(given: unknown, read: unknown, path: Path): readonly EntityProblem[] {
  if (Array.isArray(given) && Array.isArray(read) && given.length === read.length) {
    return given.flatMap((one, i) => undeclared(one, read[i], [...path, i]))
  }
  if (!isMap(given) || !isMap(read)) return []
  return Object.entries(given).flatMap(([member, value]) => {
    if (Object.hasOwn(read, member)) return undeclared(value, read[member], [...path, member])
    if (path.length === 0 || value === null) return []
    return [{ path: [...path, member], message: `is unknown${didYouMean(member, Object.keys(read))}` }]
  })
}

function inRequestNames({ resource }: ModelKind, read: object): Body {
  const named = Object.entries(read).map(([field, value]) => [inputName(resource.definition, field), value])
  return Object.fromEntries(named)
}

function pairProblems({ key }: ModelKind, pairs: unknown): readonly EntityProblem[] {
  if (pairs === undefined || key !== 'identities') return []
  const isPair = (pair: unknown) =>
    isMap(pair) && Object.keys(pair).length === 2 && typeof pair.service === 'string' && typeof pair.config === 'string'
  if (Array.isArray(pairs) && pairs.every(isPair)) return []
  return [{ path: [SERVICE_CONFIGS], message: 'must be a list of { service: NAME, config: NAME }' }]
}

/** Judges role lists and role attributes as the controller judges them when they are written. */
function roleProblems({ key, links }: ModelKind, body: Body): readonly EntityProblem[] {
  const problems: EntityProblem[] = []
  for (const { path, form } of links) {
    const roles = form === 'roles' ? textsIn(body[path[0] ?? '']) : []
    for (const [position, role] of roles.entries()) {
      if (/^[#@]./s.test(role)) continue
      problems.push({
        path: [...path, position],
        message: `'${role}' must begin with # (a role attribute) or @ (a name)`,
      })
    }
    if (roles.includes('#all') && roles.length > 1) problems.push({ path, message: 'has #all beside other roles' })
  }
  if (key === 'postureChecks') return problems
  for (const [position, attribute] of textsIn(body.roleAttributes).entries()) {
    if (!/^[#@]/.test(attribute)) continue
    problems.push({ path: ['roleAttributes', position], message: `'${attribute}' may not begin with # or @` })
  }
  return problems
}

/**
 * An entity as the API shows it, in the form of a request to create it, without read-only members and default values. Two equal entities
 * have the same form.
 */
export function compact({ resource }: ModelKind, shown: Body): Body {
  const { writable, createOnly = {}, required } = resource.definition
  const fields = Object.keys({ ...createOnly, ...writable })
  // The type of a posture check is read first, like its name.
  const ordered = ['name', ...Object.keys(createOnly), ...fields.filter((field) => field !== 'name')]
  const members = new Map<string, unknown>()
  for (const field of ordered) {
    const value = shown[field]
    if (value === undefined || value === null) continue
    if (!required.includes(field) && sameValue(value, resource.defaults[field])) continue
    members.set(inputName(resource.definition, field), value)
  }
  const tags = shown.tags ?? {}
  if (!sameValue(tags, {})) members.set('tags', tags)
  return Object.fromEntries(members)
}

/** The body of a request to replace the entity: members that the compact form leaves out have their defaults. */
export function replacement({ resource }: ModelKind, body: Body): Body {
  const { createRequest = {}, quirks: { requiredOnReplace = [] } = {} } = resource.definition
  const asked = Object.keys(createRequest)
  const kept = Object.entries(body).filter(([member]) => !asked.includes(member))
  const needed = requiredOnReplace.map((field) => [inputName(resource.definition, field), resource.defaults[field]])
  return { ...Object.fromEntries(needed), ...Object.fromEntries(kept) }
}

/** Reports whether two JSON values are equal, whatever the order of members. */
export function sameValue(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const members = Object.entries(one)
  return (
    members.length === Object.keys(other).length &&
    members.every(([member, value]) => Object.hasOwn(other, member) && sameValue(value, Reflect.get(other, member)))
  )
}
