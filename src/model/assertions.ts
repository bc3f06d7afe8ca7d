import { z } from 'zod'
import type { Path } from '../problems/problem.ts'

const Texts = z.union([z.string().min(1), z.array(z.string().min(1)).min(1)])
const Roles = z.array(z.string().regex(/^[#@]./s, 'must begin with # (a role attribute) or @ (a name)')).min(1)
const Expected = z.strictObject({ allow: Texts.optional(), deny: Texts.optional() })

/** What an endpoint tells of itself, in plain words, and whether its user proved a second factor. */
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

/** The state of an endpoint in an assertion. */
export type AssertedPosture = z.output<typeof Posture>
/** Who may dial and bind what, and who may not: of entities that are there. */
export type AccessAssertion = z.output<typeof AccessAssertionSchema>
/** What no identity may ever do, whatever role attributes it may come to have. */
export type InvariantAssertion = z.output<typeof InvariantAssertionSchema>
/** Something that must hold in a network. */
export type Assertion = AccessAssertion | InvariantAssertion

/** What is wrong with an assertion, and on which way into it. */
export interface AssertionProblem {
  readonly path: Path
  readonly message: string
}

/** The schema of what a value wants to be: an assertion with `never` is about every identity that could be. */
export function schemaOf(value: object): z.ZodType<Assertion> {
  return Object.hasOwn(value, 'never') ? InvariantAssertionSchema : AccessAssertionSchema
}

/** Tells the two kinds apart. */
export function isInvariant(assertion: Assertion): assertion is InvariantAssertion {
  return 'never' in assertion
}
