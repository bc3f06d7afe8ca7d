import {
  type InvariantAssertion,
  invariantsOf,
  type ModelKey,
  type Network,
  type Place,
  policySetOf,
} from '../../../src/model/index.ts'
import { findViolation, type Invariant, violationText } from '../../../src/policy.ts'
import type { TestCase } from './test-result.ts'

/** Decides what an assertion with `never` says, for every identity and service that could be. `now` is epoch ms. */
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

/** A name that nothing has would make an assertion hold, or an exception mean nothing, by a slip of the pen. */
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
