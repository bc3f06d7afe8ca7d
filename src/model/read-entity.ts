import { didYouMean } from '../../domain/arguments/nearest.ts'
import { ControllerError } from '../../domain/errors.ts'
import { readCreate } from '../../resources/requests/entity-requests.ts'
import { type Path, pathOf } from '../problems/problem.ts'
import type { ModelKind } from './kinds.ts'
import { type Body, isMap, SERVICE_CONFIGS } from './links.ts'
import { sameValue } from './same-value.ts'

/** What is wrong with an entity, and on which way into it. */
export interface EntityProblem {
  readonly path: Path
  readonly message: string
}

/** What keeps an entity of a model file from being one, by the declaration that the API reads requests by as well. */
export function entityProblems(kind: ModelKind, body: Body): readonly EntityProblem[] {
  const { [SERVICE_CONFIGS]: pairs, ...request } = body
  return [
    ...unknownMembers(kind, body),
    ...requestProblems(kind, request),
    ...pairProblems(kind, pairs),
    ...roleProblems(kind, request),
  ]
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
    return [{ path, message: messageOf(error.message, field) }]
  }
}

/** The controller begins with the field, which is told beside the message here. */
function messageOf(message: string, field: string): string {
  return message.replace(`${field} in input `, '').replace(`${field} `, '')
}

/** The controller ignores members that it does not know, and those of another type of posture check: here they are mistakes. */
function unknownMembers({ key, resource }: ModelKind, body: Body): readonly EntityProblem[] {
  const { spellings = (given: Body) => given } = resource.definition
  const known = [...Object.keys(resource.create.shape), ...(key === 'identities' ? [SERVICE_CONFIGS] : [])]
  const isKnown = (member: string) => {
    const { [member]: _, ...others } = body
    if (Object.hasOwn(spellings(body), member)) return known.includes(member)
    return !sameValue(spellings(body), spellings(others))
  }
  return Object.keys(body)
    .filter((member) => !isKnown(member))
    .map((member) => ({ path: [member], message: `is unknown${didYouMean(member, known)}` }))
}

/** Members deeper inside that reading has dropped. */
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
  const { inputNames = {} } = resource.definition
  return Object.fromEntries(Object.entries(read).map(([field, value]) => [inputNames[field] ?? field, value]))
}

function pairProblems({ key }: ModelKind, pairs: unknown): readonly EntityProblem[] {
  if (pairs === undefined || key !== 'identities') return []
  const isPair = (pair: unknown) =>
    isMap(pair) && Object.keys(pair).length === 2 && typeof pair.service === 'string' && typeof pair.config === 'string'
  if (Array.isArray(pairs) && pairs.every(isPair)) return []
  return [{ path: [SERVICE_CONFIGS], message: 'must be a list of { service: NAME, config: NAME }' }]
}

/** What role lists and role attributes may hold, as the controller judges them when they are written. */
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

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}
