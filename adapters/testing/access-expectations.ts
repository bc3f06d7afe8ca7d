import { checkArgument, checkOptions, type OptionRules } from '../../src/base/arguments.ts'
import { type Controller, type Explanation, explanationText } from '../../src/index.ts'
import { type EndpointFacts, postureResponses } from '../../src/policy.ts'

/** Circumstances other than those of now. */
export interface Circumstances {
  /** Taken as if the endpoint had just reported it, on top of what it did report. */
  readonly posture?: EndpointFacts
  /** The instant in question, epoch ms. */
  readonly at?: number
  /**
   * Takes an identity or service that does not exist as one that is denied, for a test that has deleted it. Default: false, and
   * an assertion about it fails: most often the name is misspelled.
   */
  readonly mayBeAbsent?: boolean
}

const CIRCUMSTANCES: OptionRules<Circumstances> = { posture: 'object', at: 'number', mayBeAbsent: 'boolean' }

/** A controller that can be asked who may reach what. */
export type Explaining = { readonly engine: Pick<Controller['engine'], 'explain'> }

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
  const { posture, at, mayBeAbsent = false } = circumstances
  const reported = posture === undefined ? {} : { posture: postureResponses(posture) }
  const asked = { ...reported, ...(at !== undefined && { at }) }
  const explanation = await net.engine.explain(identity, service, type, asked)
  const { reason } = explanation
  if (!mayBeAbsent && reason === 'identity-unknown') throw await absent('identity', identity)
  if (!mayBeAbsent && reason === 'service-unknown') throw await absent('service', service)
  return explanation
}

/** Without it a denial that is asserted would hold for ever by a slip of the pen. */
async function absent(kind: string, name: string): Promise<Error> {
  const { AssertionError } = await import('node:assert')
  const message = `there is no ${kind} '${name}': pass { mayBeAbsent: true } where that counts as denied`
  return new AssertionError({ message, operator: 'access' })
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
 * them in place with their types. What `not.toAllow` refuses is told with the policy that allows it.
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
   * Passes when the identity may dial or bind the service, each by name or id; `await` it. Fails, with `not` as well, when one
   * of them does not exist.
   */
  toAllow(...question: AccessQuestion): Promise<void>
}
