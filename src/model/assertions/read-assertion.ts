import type { z } from 'zod'
import { isMap } from '../entities/links.ts'
import { type Assertion, type AssertionProblem, isInvariant, schemaOf } from './assertion.ts'

/** An assertion of a model file, or what is wrong with it. */
export function readAssertion(
  value: unknown,
): { readonly assertion: Assertion } | { readonly problems: readonly AssertionProblem[] } {
  if (!isMap(value)) return { problems: [{ path: [], message: 'must be a map' }] }
  if (!Object.hasOwn(value, 'as') && !Object.hasOwn(value, 'never')) {
    return {
      problems: [{ path: [], message: "needs 'as' (an identity that is there) or 'never' (no identity at all)" }],
    }
  }
  const result = schemaOf(value).safeParse(value)
  if (!result.success) return { problems: result.error.issues.map(asProblem) }
  const empty = emptiness(result.data)
  return empty === undefined ? { assertion: result.data } : { problems: [{ path: [], message: empty }] }
}

/** An assertion that says nothing would always hold. */
function emptiness(assertion: Assertion): string | undefined {
  if (isInvariant(assertion)) {
    const { dial, bind } = assertion.never
    return dial === undefined && bind === undefined ? "'never' needs 'dial' or 'bind'" : undefined
  }
  const { dial, bind } = assertion
  const expects = [dial?.allow, dial?.deny, bind?.allow, bind?.deny]
  return expects.every((one) => one === undefined) ? "needs 'dial' or 'bind', with 'allow' or 'deny'" : undefined
}

function asProblem(issue: z.core.$ZodIssue): AssertionProblem {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)))
  switch (issue.code) {
    case 'unrecognized_keys':
      return { path: [...path, ...issue.keys.slice(0, 1)], message: 'is unknown' }
    case 'invalid_union':
      return { path, message: 'must be a text, or a list of texts' }
    case 'invalid_format':
      return {
        path,
        message: issue.format === 'datetime' ? 'must be an instant such as 2026-01-31T08:00:00Z' : issue.message,
      }
    case 'invalid_value':
      return { path, message: `must be one of ${issue.values.map(String).join(', ')}` }
    case 'invalid_type':
      return { path, message: issue.input === undefined ? 'is required' : `must be of type ${issue.expected}` }
    default:
      return { path, message: issue.message }
  }
}
