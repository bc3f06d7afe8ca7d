import { listed, quoted } from '../sentences.ts'
import type { Invariant, Violation, Witness } from './invariant.ts'

/**
 * A violation as sentences: who could reach what, by which policies, and whether somebody already does.
 *
 * @example
 * console.log(violationText(invariant, violation))
 * // An identity with the role attribute 'contractor' can dial a service with the role attribute 'confidential',
 * // by the service policy 'everybody-dials'.
 */
export function violationText({ type }: Pick<Invariant, 'type'>, violation: Violation): string {
  const { identity, service, edgeRouter, policies, present } = violation
  const [policy, ...routing] = policies.map(({ name }) => quoted(name))
  const via = edgeRouter === undefined ? '' : ` through ${witnessText(edgeRouter, 'an edge router')}`
  const by = routing.length === 0 ? '' : `, with ${listed(routing)} for the edge router`
  const can = `${capital(witnessText(identity, 'an identity'))} can ${type.toLowerCase()} ${witnessText(service, 'a service')}`
  const first = `${can}${via}, by the service policy ${policy}${by}.`
  if (present === undefined) return `${first} Nobody who is there can yet.`
  return `${first} ${quoted(present.identity.name)} already can reach ${quoted(present.service.name)} so.`
}

function witnessText({ name, roleAttributes }: Witness, kind: string): string {
  if (name !== undefined) return `${kind.replace(/^an? /, '')} ${quoted(name)}`.replace(/^/, 'the ')
  if (roleAttributes.length === 0) return `${kind} without any role attribute`
  return `${kind} with the role attribute${roleAttributes.length > 1 ? 's' : ''} ${listed(roleAttributes.map(quoted))}`
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
