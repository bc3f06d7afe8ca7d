import { z } from 'zod'
import { didYouMean } from '../base/arguments.ts'
import { isMap } from '../base/members.ts'
import type { Path } from './model-problem.ts'

const Texts = z.union([z.string().min(1), z.array(z.string().min(1)).min(1)])
const Roles = z.array(z.string().regex(/^[#@]./s, 'must begin with # (a role attribute) or @ (a name)')).min(1)
const Expected = z.strictObject({ allow: Texts.optional(), deny: Texts.optional() })

/** The facts that an endpoint reports, in plain words, and whether its user proved a second factor. */
const Posture = z.strictObject({
  domain: z.string().exactOptional(),
  os: z.strictObject({ type: z.string(), version: z.string(), build: z.string().exactOptional() }).exactOptional(),
  macAddresses: z.array(z.string()).exactOptional(),
  processes: z
    .array(
      z.strictObject({
        path: z.string().min(1),
        isRunning: z.boolean().exactOptional(),
        hash: z.string().exactOptional(),
        signerFingerprints: z.array(z.string()).exactOptional(),
      }),
    )
    .exactOptional(),
  isUnlocked: z.boolean().exactOptional(),
  isWoken: z.boolean().exactOptional(),
  mfa: z.boolean().exactOptional(),
})

const CIRCUMSTANCES = {
  name: z.string().optional(),
  at: z.iso.datetime({ offset: true }).optional(),
  posture: Posture.optional(),
}

const AccessAssertionSchema = z.strictObject({
  ...CIRCUMSTANCES,
  as: Texts,
  dial: Expected.optional(),
  bind: Expected.optional(),
  via: Texts.optional(),
})

const InvariantAssertionSchema = z.strictObject({
  ...CIRCUMSTANCES,
  never: z.strictObject({
    identity: Roles,
    dial: Roles.optional(),
    bind: Roles.optional(),
    semantic: z.enum(['AnyOf', 'AllOf']).optional(),
  }),
  unless: z
    .strictObject({ identity: Roles.optional(), service: Roles.optional(), posture: Roles.optional() })
    .optional(),
  via: Roles.optional(),
})

/** The access in a cell of a matrix: this access, and no more. */
const Cell = z.enum(['dial', 'bind', 'both', 'none'])
const MatrixAssertionSchema = z.strictObject({
  ...CIRCUMSTANCES,
  matrix: z.record(z.string().min(1), z.record(z.string().min(1), Cell)),
})

/** Every member of an assertion, to suggest one for a misspelled name. */
const MEMBERS: readonly string[] = [
  ...[AccessAssertionSchema, InvariantAssertionSchema, MatrixAssertionSchema, Expected, Posture].flatMap(({ shape }) =>
    Object.keys(shape),
  ),
  ...Object.keys(InvariantAssertionSchema.shape.never.shape),
]

/** The state of an endpoint in an assertion. */
export type AssertedPosture = z.output<typeof Posture>
/** An assertion about the access that existing entities have, and do not have. */
export type AccessAssertion = z.output<typeof AccessAssertionSchema>
/** An assertion about actions that no identity may ever do, whatever role attributes it gets. */
export type InvariantAssertion = z.output<typeof InvariantAssertionSchema>
/** A table: for each identity (a name, or `#attribute`) and each service exactly the access that it has. */
export type MatrixAssertion = z.output<typeof MatrixAssertionSchema>
/** An assertion about a network, in the form in which it is tried. */
export type TriedAssertion = AccessAssertion | InvariantAssertion
/** An assertion about a network, as a model states it. */
export type Assertion = TriedAssertion | MatrixAssertion

/** A mistake in an assertion, with its member. */
export interface AssertionProblem {
  readonly path: Path
  readonly message: string
}

/** The schema that fits a value: a value with `never` is meant as an invariant, about every possible identity. */
function schemaOf(value: object): z.ZodType<Assertion> {
  if (Object.hasOwn(value, 'matrix')) return MatrixAssertionSchema
  return Object.hasOwn(value, 'never') ? InvariantAssertionSchema : AccessAssertionSchema
}

/** An assertion to be tried, and the path to its part of the value. */
export interface ReadAssertion {
  readonly assertion: TriedAssertion
  readonly path: Path
}

/** The JSON schema of assertions, for editors. */
export function assertionSchema(): object {
  const anyOf = [AccessAssertionSchema, InvariantAssertionSchema, MatrixAssertionSchema].map((schema) => {
    const { $schema: _, ...written } = z.toJSONSchema(schema, { target: 'draft-7', io: 'input' })
    return written
  })
  return { anyOf }
}

/** Distinguishes invariants from assertions about existing entities. */
export function isInvariant(assertion: TriedAssertion): assertion is InvariantAssertion {
  return 'never' in assertion
}

/** The assertions of an item of a model file, one for each cell of a matrix; or the problems with the item. */
export function readAssertion(
  value: unknown,
): { readonly assertions: readonly ReadAssertion[] } | { readonly problems: readonly AssertionProblem[] } {
  if (!isMap(value)) return { problems: [{ path: [], message: 'must be a map' }] }
  if (!['as', 'never', 'matrix'].some((member) => Object.hasOwn(value, member))) {
    const message = "needs 'as' (an identity that is there), 'never' (no identity at all) or 'matrix' (a table)"
    return { problems: [{ path: [], message }] }
  }
  const result = schemaOf(value).safeParse(value, { reportInput: true })
  if (!result.success) return { problems: result.error.issues.map(asProblem) }
  const assertions = 'matrix' in result.data ? cellsOf(result.data) : [{ assertion: result.data, path: [] }]
  const [empty] = assertions.flatMap(({ assertion }) => emptiness(assertion) ?? [])
  if (empty !== undefined) return { problems: [{ path: [], message: empty }] }
  if (assertions.length === 0) return { problems: [{ path: ['matrix'], message: 'has no cell' }] }
  return { assertions }
}

function cellsOf({ matrix, ...circumstances }: MatrixAssertion): readonly ReadAssertion[] {
  return Object.entries(matrix).flatMap(([identity, row]) =>
    Object.entries(row).map(([service, cell]) => ({
      path: ['matrix', identity, service],
      assertion: {
        ...circumstances,
        as: identity,
        dial: expected(service, cell === 'dial' || cell === 'both'),
        bind: expected(service, cell === 'bind' || cell === 'both'),
      },
    })),
  )
}

function expected(service: string, isAllowed: boolean) {
  return isAllowed ? { allow: service } : { deny: service }
}

/** An assertion that says nothing would always hold. */
function emptiness(assertion: TriedAssertion): string | undefined {
  if (isInvariant(assertion)) {
    const { dial, bind } = assertion.never
    return dial === undefined && bind === undefined ? "'never' needs 'dial' or 'bind'" : undefined
  }
  const { dial, bind } = assertion
  const expects = [dial?.allow, dial?.deny, bind?.allow, bind?.deny]
  return expects.every((one) => one === undefined) ? "needs 'dial' or 'bind', with 'allow' or 'deny'" : undefined
}

/** The forms of values, in words for authors of files. */
export const FORMS: Readonly<Record<string, string>> = {
  record: 'a map',
  object: 'a map',
  array: 'a list',
  string: 'a text',
  boolean: 'true or false',
  number: 'a number',
  int: 'a whole number',
  integer: 'a whole number',
}

function asProblem(issue: z.core.$ZodIssue): AssertionProblem {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)))
  switch (issue.code) {
    case 'unrecognized_keys':
      return {
        path: [...path, ...issue.keys.slice(0, 1)],
        message: `is unknown${didYouMean(issue.keys[0] ?? '', MEMBERS)}`,
      }
    case 'invalid_union':
      return { path, message: 'must be a text, or a list of texts' }
    case 'invalid_format':
      return {
        path,
        message: issue.format === 'datetime' ? 'must be an instant such as 2026-01-31T08:00:00Z' : issue.message,
      }
    case 'invalid_value': {
      const values = issue.values.map(String)
      return { path, message: `must be one of ${values.join(', ')}${didYouMean(String(issue.input), values)}` }
    }
    case 'invalid_type':
      return {
        path,
        message: issue.input === undefined ? 'is required' : `must be ${FORMS[issue.expected] ?? issue.expected}`,
      }
    default:
      return { path, message: issue.message }
  }
}
