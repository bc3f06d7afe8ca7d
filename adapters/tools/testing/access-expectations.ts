import { checkArgument, checkOptions, type OptionRules } from '../../../src/base/arguments.ts'
import { LARGEST_PAGE } from '../../../src/base/limits.ts'
import {
  type Controller,
  type ExplainOptions,
  type Explanation,
  explanationText,
  SYSTEM_CALL,
} from '../../../src/index.ts'
import { type EndpointFacts, postureResponses } from '../../../src/policy.ts'

/** Facts of an endpoint that are taken to be so, and whether its user proved a second factor. */
export interface AssumedFacts extends EndpointFacts {
  /** True when a second factor was just proved in the session of the endpoint. Default: as it is. */
  readonly mfa?: boolean
}

/** Facts and an instant in place of the present ones. */
export interface AssumedCircumstances {
  /** Posture that the endpoint is assumed to have just reported, on top of its real reports. */
  readonly posture?: AssumedFacts
  /** The instant in question, epoch ms. */
  readonly at?: number
}

/** Circumstances of an assertion in place of the present ones. */
export interface Circumstances extends AssumedCircumstances {
  /**
   * Treats a missing identity or service as denied, for a test that has deleted it. Default: false. An assertion about it then fails: most
   * often the name is misspelled.
   */
  readonly mayBeAbsent?: boolean
}

const ASSUMED: OptionRules<AssumedCircumstances> = { posture: 'object', at: 'number' }
const CIRCUMSTANCES: OptionRules<Circumstances> = { ...ASSUMED, mayBeAbsent: 'boolean' }

/** A controller that answers questions about access. */
export type Explaining = { readonly engine: { readonly access: Pick<Controller['engine']['access'], 'explain'> } }

/** The access that an assertion is about: an identity and a service by name or id. */
export type AccessQuestion = readonly [
  identity: string,
  type: 'Dial' | 'Bind',
  service: string,
  circumstances?: Circumstances,
]

/**
 * Asks a controller whether an identity may dial or bind a service, and why. Rejects when there is no such identity or
 * service, unless it may be absent.
 */
async function explainAccess(net: Explaining, ...question: AccessQuestion): Promise<Explanation> {
  const [identity, type, service, circumstances = {}] = question
  checkArgument('access', 'type', type, { oneOf: ['Dial', 'Bind'], isNeeded: true })
  checkOptions('access', circumstances, CIRCUMSTANCES)
  const { mayBeAbsent = false } = circumstances
  const explanation = await net.engine.access.explain(SYSTEM_CALL, identity, service, type, assumed(circumstances))
  const { reason } = explanation
  if (!mayBeAbsent && reason === 'identity-unknown') throw await unknown('identity', identity, ABSENCE_ADVICE)
  if (!mayBeAbsent && reason === 'service-unknown') throw await unknown('service', service, ABSENCE_ADVICE)
  return explanation
}

/** The circumstances in the words of the engine. */
function assumed({ posture, at }: AssumedCircumstances): ExplainOptions {
  const { mfa, ...facts } = posture ?? {}
  checkArgument('access', 'posture.mfa', mfa, 'boolean')
  const reported = posture === undefined ? {} : { posture: postureResponses(facts) }
  return { ...reported, ...(mfa === true && { mfa }), ...(at !== undefined && { at }) }
}

/** The names of services, sorted. */
export interface Reach {
  readonly dial: readonly string[]
  readonly bind: readonly string[]
}

/** All that an identity may dial and bind; rejects when there is no such identity. */
export async function reachOf(
  { engine }: { readonly engine: Pick<Controller['engine'], 'access' | 'services'> },
  identity: string,
  circumstances: AssumedCircumstances = {},
): Promise<Reach> {
  checkOptions('reach', circumstances, ASSUMED)
  const asked = assumed(circumstances)
  const explain = (service: string, type: 'Dial' | 'Bind', options: ExplainOptions = {}) =>
    engine.access.explain(SYSTEM_CALL, identity, service, type, options)
  const services = await allServices(engine)
  const reached = async (type: 'Dial' | 'Bind') => {
    const names: string[] = []
    for (const { id, name } of services) if ((await explain(id, type, asked)).allowed) names.push(name)
    return names.toSorted()
  }
  // In a network without services nothing else would reveal a misspelled name.
  const { reason } = await explain('any service', 'Dial')
  if (reason === 'identity-unknown') throw await unknown('identity', identity)
  return { dial: await reached('Dial'), bind: await reached('Bind') }
}

async function allServices({ services }: Pick<Controller['engine'], 'services'>) {
  const found: { readonly id: string; readonly name: string }[] = []
  for (;;) {
    const { items } = await services.list(SYSTEM_CALL, { limit: LARGEST_PAGE, offset: found.length })
    found.push(...items)
    if (items.length < LARGEST_PAGE) return found
  }
}

/** How to assert a denial for a deleted entity. */
const ABSENCE_ADVICE = ': pass { mayBeAbsent: true } where that counts as denied'

/** Without this error an asserted denial with a misspelled name would hold for ever. */
async function unknown(kind: string, name: string, advice = ''): Promise<Error> {
  const { AssertionError } = await import('node:assert')
  return new AssertionError({ message: `there is no ${kind} '${name}'${advice}`, operator: 'access' })
}

/**
 * Rejects, with the explanation, unless an identity may dial or bind a service: for test runners without matchers.
 *
 * @example
 * await assertAllows(net, 'laptop', 'Dial', 'wiki', { posture: { domain: 'corp.example' } })
 */
export async function assertAllows(net: Explaining, ...question: AccessQuestion): Promise<void> {
  const explanation = await explainAccess(net, ...question)
  if (!explanation.allowed) throw await unlike(explanation)
}

/**
 * Rejects, with the explanation, when an identity may dial or bind a service, and when either does not exist.
 *
 * @example
 * await assertDenies(net, 'visitor', 'Dial', 'payroll')
 */
export async function assertDenies(net: Explaining, ...question: AccessQuestion): Promise<void> {
  const explanation = await explainAccess(net, ...question)
  if (explanation.allowed) throw await unlike(explanation)
}

/** Words the failure of an assertion about an explanation. */
function unlikeText(explanation: Explanation): string {
  const { asked, type, allowed } = explanation
  const expected = `${asked.identity} ${allowed ? 'not ' : ''}to be allowed to ${type} ${asked.service}`
  return `expected ${expected}\n\n${explanationText(explanation)}`
}

async function unlike(explanation: Explanation): Promise<Error> {
  const { AssertionError } = await import('node:assert')
  const { allowed } = explanation
  return new AssertionError({
    message: unlikeText(explanation),
    actual: allowed,
    expected: !allowed,
    operator: 'access',
  })
}

interface MatcherResult {
  readonly pass: boolean
  message(): string
}

/**
 * Matchers for `expect.extend` of vitest, jest and their like; `portcullis/testing/vitest` and `portcullis/testing/jest` put
 * them in place with their types. The refusal of `not.toAllow` names the policy that allows access.
 *
 * @example
 * expect.extend(accessMatchers)
 * await expect(net).toAllow('laptop', 'Dial', 'wiki')
 * await expect(net).not.toAllow('laptop', 'Dial', 'payroll', { posture: { domain: 'elsewhere.example' } })
 */
export const accessMatchers = {
  async toAllow(net: Explaining, ...question: AccessQuestion): Promise<MatcherResult> {
    const explanation = await explainAccess(net, ...question)
    return { pass: explanation.allowed, message: () => unlikeText(explanation) }
  },
}

/** The matchers that {@link accessMatchers} adds to `expect(net)`. */
export interface AccessMatchers {
  /**
   * Passes when the identity may dial or bind the service, each by name or id; `await` it. Fails, with `not` as well, when the identity or
   * the service does not exist.
   */
  toAllow(...question: AccessQuestion): Promise<void>
}
