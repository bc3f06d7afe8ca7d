import { didYouMean } from '../base/arguments.ts'
import { runtime } from '../concurrency/process-runtime.ts'
import {
  type AccessAssertion,
  isInvariant,
  type ModelAssertion,
  type ModelKey,
  type Network,
  type NetworkEntity,
  type Place,
} from '../model/index.ts'
import { checkInvariant, resultOf, type TestCase, type TestResult } from './check-invariant.ts'
import type { NetworkDoor } from './network-door.ts'

/**
 * Holds assertions against a controller: the controller explains each named pair of identity and service, and `never` is decided for every
 * possible identity. `network` is the network of the controller.
 */
export async function checkAssertions(
  door: NetworkDoor,
  assertions: readonly ModelAssertion[],
  network: Network,
  notes: readonly string[] = [],
): Promise<TestResult> {
  const cases: TestCase[] = []
  const now = runtime.now()
  for (const { assertion, place } of assertions) {
    const found = isInvariant(assertion)
      ? checkInvariant(assertion, place(), network, now)
      : await checkAccess(door, assertion, place, network)
    const { name } = assertion
    cases.push(...found.map((one) => (name === undefined ? one : { ...one, name: `${name}: ${one.name}` })))
  }
  return resultOf(cases, notes)
}

interface Question {
  readonly identity: string
  readonly service: string
  readonly type: 'Dial' | 'Bind'
  readonly isAllowed: boolean
}

async function checkAccess(
  door: NetworkDoor,
  assertion: AccessAssertion,
  place: ModelAssertion['place'],
  network: Network,
): Promise<readonly TestCase[]> {
  const cases: TestCase[] = []
  const absent = (question: Question, key: AskedKind, text: string) => {
    const member = { identities: 'as', services: question.type.toLowerCase(), edgeRouters: 'via' }[key]
    cases.push({ name: nameOf(question), place: place([member]), passed: false, text: absence(network, key, text) })
  }
  const routers = [assertion.via ?? []].flat()
  const absentRouter = routers.find((text) => named(network, 'edgeRouters', text).length === 0)
  for (const question of questionsIn(assertion)) {
    // A denial for lack of a router would hold under any policies.
    if (absentRouter !== undefined) {
      absent(question, 'edgeRouters', absentRouter)
      continue
    }
    const identities = named(network, 'identities', question.identity)
    const services = named(network, 'services', question.service)
    if (identities.length === 0 || services.length === 0) {
      if (identities.length === 0) absent(question, 'identities', question.identity)
      else absent(question, 'services', question.service)
    }
    for (const identity of identities) {
      for (const service of services)
        cases.push(await ask(door, assertion, place(), network, question, identity, service))
    }
  }
  return cases
}

const KIND_WORDS = { identities: 'identity', services: 'service', edgeRouters: 'edge router' } as const
type AskedKind = keyof typeof KIND_WORDS

/** Says that a text of an assertion matches no entity, and suggests a name. */
function absence(network: Network, key: AskedKind, text: string): string {
  const kind = KIND_WORDS[key]
  const there = network.all(key)
  if (!text.startsWith('#')) {
    const names = there.map(({ name }) => name)
    return `There is no ${kind} '${text}' in the network${didYouMean(text, names)}.`
  }
  const attributes = there.flatMap(({ body }) => roleAttributesOf(body))
  return `No ${kind} in the network has the role attribute '${text.slice(1)}'${didYouMean(text.slice(1), attributes)}.`
}

function roleAttributesOf({ roleAttributes }: NetworkEntity['body']): readonly string[] {
  return Array.isArray(roleAttributes) ? roleAttributes.map(String) : []
}

function questionsIn({ as, dial, bind }: AccessAssertion): readonly Question[] {
  const asked = [
    ['Dial', dial?.allow, true],
    ['Dial', dial?.deny, false],
    ['Bind', bind?.allow, true],
    ['Bind', bind?.deny, false],
  ] as const
  return asked.flatMap(([type, services = [], isAllowed]) =>
    [as].flat().flatMap((identity) => [services].flat().map((service) => ({ identity, service, type, isAllowed }))),
  )
}

/** The entities of a text: one entity by its name, with or without `@`, or all entities with a role attribute. */
function named(network: Network, key: ModelKey, text: string): readonly NetworkEntity[] {
  if (text.startsWith('#')) {
    const selected = network
      .all(key)
      .filter(({ body }) => text === '#all' || roleAttributesOf(body).includes(text.slice(1)))
    return selected.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  }
  return [network.named(key, text) ?? network.named(key, text.replace(/^@/, ''))].filter((one) => one !== undefined)
}

async function ask(
  door: NetworkDoor,
  { at, posture, via }: AccessAssertion,
  place: Place,
  network: Network,
  question: Question,
  identity: NetworkEntity,
  service: NetworkEntity,
): Promise<TestCase> {
  const { type, isAllowed } = question
  const data = await door.explain({ identity: identity.id, service: service.id, type, at, posture })
  const wanted =
    via === undefined ? undefined : new Set([via].flat().flatMap((text) => named(network, 'edgeRouters', text)))
  const common = data.edgeRouters.common.map(({ name }) => name)
  const names = new Set([...(wanted ?? [])].map(({ name }) => name))
  const isRouted =
    wanted === undefined ||
    (isAllowed ? common.every((name) => names.has(name)) : common.some((name) => names.has(name)))
  const passed = isAllowed ? data.allowed && isRouted : !(data.allowed && isRouted)
  const name = nameOf({ ...question, identity: identity.name, service: service.name }, via)
  const deciding = data.policies.filter(({ applies }) => applies)
  const touched = {
    ...{ identity: identity.name, service: service.name, type },
    policies: deciding.map((policy) => policy.name),
    checks: deciding.flatMap(({ checks }) => checks.map((check) => check.name)),
  }
  return {
    name,
    place,
    passed,
    touched,
    text: data.allowed && !isRouted ? routing(isAllowed, common, names, via) : data.text,
  }
}

/** Says which edge routers carry an access that is there, where an assertion wants others. */
function routing(
  isAllowed: boolean,
  common: readonly string[],
  wanted: ReadonlySet<string>,
  via: AccessAssertion['via'],
): string {
  const text = [via ?? []].flat().join(', ')
  if (!isAllowed) return `No edge router of ${text} carries it: ${common.toSorted().join(', ')} may.`
  const others = common.filter((name) => !wanted.has(name)).toSorted()
  return `The policies allow it, but not by way of ${text} alone: ${others.join(', ')} may carry it too. Narrow an edge router policy or a service edge router policy.`
}

function nameOf({ identity, service, type, isAllowed }: Question, via?: AccessAssertion['via']): string {
  const through = via === undefined ? '' : ` via ${[via].flat().join(', ')}`
  return `${identity} ${isAllowed ? 'may' : 'may not'} ${type.toLowerCase()} ${service}${through}`
}
