/** The kinds of rights. */
export type Right = 'Dial' | 'Bind'

interface Policy {
  readonly type: Right
  readonly role: string
}

/**
 * The facts of the network as its administrators set them, with what they may be where an answer was lost. Who may do what follows from
 * them in the plainest way: this is the oracle, and shares no code with the product.
 */
export class KnownFacts {
  /** Each role that an identity may have at present; one list where it is certain. */
  readonly roles = new Map<string, readonly (readonly string[])[]>()
  readonly enabled = new Map<string, readonly boolean[]>()
  readonly policies = new Map<string, readonly (Policy | undefined)[]>()
  /** Since when nothing changed, by the time of the run. */
  changedAt = 0

  /** Whether an identity has a right under every reading of the facts, under none, or it depends. */
  grants(identity: string, right: Right): 'yes' | 'no' | 'unknown' {
    const answers = new Set<boolean>()
    for (const isEnabled of this.enabled.get(identity) ?? [true]) {
      for (const roles of this.roles.get(identity) ?? [[]]) {
        const may = [...this.policies.values()].map((readings) => readings.map((policy) => isMet(policy, right, roles)))
        const surely = isEnabled && may.some((readings) => readings.every((met) => met))
        const possibly = isEnabled && may.some((readings) => readings.some((met) => met))
        answers.add(surely)
        answers.add(possibly)
      }
    }
    if (answers.size > 1) return 'unknown'
    return answers.has(true) ? 'yes' : 'no'
  }
}

function isMet(policy: Policy | undefined, right: Right, roles: readonly string[]): boolean {
  return policy !== undefined && policy.type === right && roles.includes(policy.role)
}
