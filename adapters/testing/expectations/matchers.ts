import { type AccessQuestion, type Explaining, explainAccess, unlikeText } from './access.ts'

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

/** What {@link accessMatchers} adds to `expect(net)`. */
export interface AccessMatchers {
  /**
   * Passes when the identity may dial or bind the service, each by name or id; `await` it. Fails, with `not` as well, when one
   * of them does not exist.
   */
  toAllow(...question: AccessQuestion): Promise<void>
}
