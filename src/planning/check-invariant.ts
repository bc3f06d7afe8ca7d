import {
  type InvariantAssertion,
  invariantsOf,
  type ModelKey,
  type Network,
  type Place,
  policySetOf,
} from '../model/index.ts'
import { findViolation, type Invariant, violationText } from '../policy.ts'

/** Decides an assertion with `never` for every possible identity and service. `now` is epoch ms. */
export function checkInvariant(
  assertion: InvariantAssertion,
  place: Place,
  network: Network,
  now: number,
): readonly TestCase[] {
  const unknown = unknownNames(assertion, network)
  const policies = policySetOf(network)
  return invariantsOf(assertion, now).map((invariant) => {
    const name = nameOf(assertion, invariant)
    if (unknown.length > 0) return { name, place, passed: false, text: unknown.join('\n') }
    const violation = findViolation(invariant, policies)
    if (violation === undefined) {
      return { name, place, passed: true, text: 'No identity that could be reaches any service that could be.' }
    }
    return { name, place, passed: false, text: violationText(invariant, violation) }
  })
}

function nameOf({ unless, via, posture }: InvariantAssertion, { identity, service, type }: Invariant): string {
  const exceptions = [unless?.identity, unless?.service, unless?.posture].flatMap((roles) => roles ?? [])
  return [
    `never ${identity.roles.join(' ')} ${type.toLowerCase()} ${service.roles.join(' ')}`,
    via === undefined ? '' : `via ${via.join(' ')}`,
    posture === undefined ? '' : `with posture ${JSON.stringify(posture)}`,
    exceptions.length === 0 ? '' : `unless ${exceptions.join(' ')}`,
  ]
    .filter((part) => part !== '')
    .join(' ')
}

/** A misspelled name would make an assertion hold, or an exception mean nothing. */
function unknownNames({ never, unless, via }: InvariantAssertion, network: Network): readonly string[] {
  const lists: readonly (readonly [ModelKey, readonly string[] | undefined])[] = [
    ['identities', never.identity],
    ['services', never.dial],
    ['services', never.bind],
    ['identities', unless?.identity],
    ['services', unless?.service],
    ['postureChecks', unless?.posture],
    ['edgeRouters', via],
  ]
  return lists.flatMap(([key, roles = []]) =>
    roles
      .filter((role) => role.startsWith('@') && network.named(key, role.slice(1)) === undefined)
      .map((role) => `No member of ${key} is named '${role.slice(1)}'.`),
  )
}

/** The access of an identity to a service, each by name, and the names of the deciding policies and checks. */
export interface TouchedAccess {
  readonly identity: string
  readonly service: string
  readonly type: 'Dial' | 'Bind'
  readonly policies: readonly string[]
  readonly checks: readonly string[]
}

/** One assertion and its result. */
export interface TestCase {
  /** The statement that must hold, as `laptop may dial payroll`. */
  readonly name: string
  /** The assertion that it belongs to. */
  readonly place: Place
  readonly passed: boolean
  /** The access that was asked about, with the policies and posture checks that decide about it; undefined for an invariant. */
  readonly touched?: TouchedAccess
  /** Why it came out so, over several lines: the explanation of the controller, or a counterexample. */
  readonly text: string
}

/** Entities of one kind, and the entities that no assertion asks about. */
export interface CoveredKind {
  readonly total: number
  readonly covered: number
  /** By name; of very many the first. */
  readonly missing: readonly string[]
}

/**
 * The part of a network that assertions ask about, by the names in `as` and `matrix`. `never` is about every possible identity, and covers
 * no existing identity.
 */
export interface Coverage {
  readonly policies: CoveredKind
  readonly checks: CoveredKind
  /** Identity and service that a policy grants Dial or Bind, posture aside. */
  readonly pairs: CoveredKind
}

/** How all assertions of a model came out. */
export interface TestResult {
  readonly cases: readonly TestCase[]
  readonly passed: number
  readonly failed: number
  /** Remarks for the reader on the test itself, one line each. */
  readonly notes: readonly string[]
  /** The part of the network that the assertions asked about; only where the network is that of a test. */
  readonly coverage?: Coverage
}

/** Counts the results. */
export function resultOf(cases: readonly TestCase[], notes: readonly string[] = []): TestResult {
  const passed = cases.filter((one) => one.passed).length
  return { cases, passed, failed: cases.length - passed, notes }
}
