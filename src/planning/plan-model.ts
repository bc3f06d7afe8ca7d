import type { OptionRules } from '../base/arguments.ts'
import {
  type AccessDifference,
  accessDifference,
  entityDifference,
  isInvariant,
  kindOfKey,
  linksOf,
  type Model,
  type Network,
  type NetworkEntity,
  NetworkView,
  type PlannedChange,
  placeText,
  pruned,
  renameLinks,
  requireLinks,
  withRouterPolicies,
} from '../model/index.ts'
import { applyChanges, ChangeRefused, type Progress } from './apply-changes.ts'
import { checkAssertions } from './check-assertions.ts'
import type { TestResult } from './check-invariant.ts'
import type { NetworkDoor } from './network-door.ts'
import { readNetwork } from './read-network.ts'
import { createScratchController, refusalIn, tryOut } from './scratch-controller.ts'

/** How a model is compared with a controller. */
export interface PlanOptions {
  /** True to delete entities that the model lacks, of every kind that it lists. */
  readonly prune?: boolean
  /** How many of the pairs that gain or lose access are named at most; all are counted. 1000 by default. */
  readonly accessLimit?: number
}

/** Rules of the options, one for each. */
export const PLAN_OPTIONS: OptionRules<PlanOptions> = { prune: 'boolean', accessLimit: 'number' }

/** The changes that applying a model would make. */
export interface Plan {
  readonly model: Model
  /** The network that it was made for. */
  readonly current: Network
  /** In the order in which they would be made. */
  readonly changes: readonly PlannedChange[]
  /** How many entities of the model are there already as it has them. */
  readonly unchanged: number
  /** The access that identities would gain and lose, posture aside. */
  readonly access: AccessDifference
  /** The assertions of the model, held against the network as it would be. A plan with failures is not applied. */
  readonly assertions: TestResult
}

/** Computes the changes of applying a model to a network. Nothing is written. */
export async function planFor(door: NetworkDoor, given: Model, plan: PlanOptions = {}): Promise<Plan> {
  const current = await readNetwork(door)
  const model = withRouterPolicies(given, current)
  const prune = plan.prune === true ? { isProtected: isProtected(current) } : undefined
  const leaving = new Set((prune === undefined ? [] : pruned(model, current, prune.isProtected)).map(known))
  const staying = current.entities.filter((entity) => !leaving.has(known(entity)))
  requireLinks(model, staying)
  const scratch = await createScratchController()
  try {
    const desired = await tryOut(scratch.door, model, othersToTry(model, staying))
    const { changes, unchanged } = entityDifference(model, current, desired, prune)
    const before = new NetworkView(current)
    const access = accessDifference(before, new NetworkView(current, changes), plan.accessLimit ?? 1000)
    const assertions = await checkAssertions(scratch.door, model.assertions, desired)
    return { model, current, changes, unchanged, access, assertions }
  } finally {
    await scratch.close()
  }
}

function known({ key, name }: { readonly key: string; readonly name: string }): string {
  return `${key} ${name}`
}

/** Protects entities against deletion by an oversight: the default auth policy, identities of routers, and the last way in. */
function isProtected(current: Network): (entity: NetworkEntity) => boolean {
  const hasKeptAdmin = current.all('identities').some(({ isKept, body }) => isKept && body.isAdmin === true)
  return ({ key, id, body }) =>
    (key === 'authPolicies' && id === 'default') ||
    (key === 'identities' && (body.type === 'Router' || (body.isAdmin === true && !hasKeptAdmin)))
}

/** The assertions of a model would fail in the network as it would be: nothing was changed. */
export class AssertionsFailed extends Error {
  readonly result: TestResult

  constructor(result: TestResult) {
    const failing = result.cases.filter(({ passed }) => !passed)
    const lines = failing.map(({ name, place, text }) => `${placeText(place)}: ${name}: ${text.split('\n')[0]}`)
    super([`${result.failed} of ${result.cases.length} assertions would fail`, ...lines].join('\n'))
    this.name = 'AssertionsFailed'
    this.result = result
  }
}

/** Makes the changes of a plan. Rejects with {@link AssertionsFailed} before the first change when an assertion would fail. */
export async function carryOut(
  door: NetworkDoor,
  { model, current, changes, assertions }: Plan,
  onProgress?: (progress: Progress) => void,
): Promise<void> {
  if (assertions.failed > 0) throw new AssertionsFailed(assertions)
  try {
    await applyChanges(door, current, changes, onProgress)
  } catch (error) {
    throw error instanceof ChangeRefused ? refusalIn(model, error) : error
  }
}

/**
 * Picks the part of a network that is needed to try a model: all policies, and the entities that policies and assertions name. Other
 * identities and services stay out, because there may be very many. References to missing entities are left out, as a controller removes
 * references to a deleted entity.
 */
function othersToTry(model: Model, network: readonly NetworkEntity[]): readonly NetworkEntity[] {
  const own = new Set(model.entities.map(({ key, name }) => `${key} ${name}`))
  const known = new Set([...own, ...network.map(({ key, name }) => `${key} ${name}`)])
  const others = network.filter(({ key, name, isKept }) => !isKept && !own.has(`${key} ${name}`))
  const asked = askedFor(model)
  const isAskedFor = ({ name, body }: NetworkEntity) => asked.has('#all') || asked.has(name) || hasAny(body, asked)
  const taken = new Set(others.filter((entity) => !isNumerous(entity) || isAskedFor(entity)))
  const byName = new Map(others.map((entity) => [`${entity.key} ${entity.name}`, entity]))
  const waiting: Pick<NetworkEntity, 'key' | 'body'>[] = [...model.entities, ...taken]
  for (let entity = waiting.pop(); entity !== undefined; entity = waiting.pop()) {
    for (const { to, name } of linksOf(kindOfKey(entity.key), entity.body)) {
      const target = byName.get(`${to} ${name}`)
      if (target === undefined || taken.has(target)) continue
      taken.add(target)
      waiting.push(target)
    }
  }
  const isThere = (key: string, name: string) => known.has(`${key} ${name}`)
  return others
    .filter((entity) => taken.has(entity))
    .map(({ body, ...entity }) => {
      const links = renameLinks(kindOfKey(entity.key), body, (to, name) => (isThere(to, name) ? name : undefined))
      return { ...entity, body: links }
    })
}

function isNumerous({ key }: NetworkEntity): boolean {
  return key === 'identities' || key === 'services'
}

function hasAny(body: NetworkEntity['body'], asked: ReadonlySet<string>): boolean {
  const attributes: unknown = body.roleAttributes
  return Array.isArray(attributes) && attributes.some((attribute) => asked.has(`#${attribute}`))
}

/** The names and roles that assertions speak of. */
function askedFor({ assertions }: Model): ReadonlySet<string> {
  const texts = assertions.flatMap(({ assertion }) => {
    if (isInvariant(assertion)) {
      const { never, unless } = assertion
      return [never.identity, never.dial ?? [], never.bind ?? [], unless?.identity ?? [], unless?.service ?? []].flat()
    }
    const { as, dial, bind } = assertion
    return [as, dial?.allow ?? [], dial?.deny ?? [], bind?.allow ?? [], bind?.deny ?? []].flat()
  })
  return new Set(texts.map((text) => (text.startsWith('@') ? text.slice(1) : text)))
}
