import { ControllerError, invalidField } from '../base/errors.ts'
import { instantText } from '../base/time.ts'
import { knownCaller } from '../context/call.ts'
import {
  type EdgeRouterPolicies,
  edgeRouterPolicies,
  type ServicePolicies,
  servicePolicies,
} from '../facts/access/policy.resource.ts'
import { phaseAt } from '../facts/access/policy-term.rules.ts'
import type { Behaviour } from '../records/behaviour.ts'

/** A service policy grants Dial or Bind; `Invalid` exists in the vocabulary only. */
export const servicePolicyBehaviour: Behaviour<ServicePolicies> = {
  resource: servicePolicies,

  async guard(_context, _tx, call, change) {
    if (change.kind === 'delete') return undefined
    const { before, after } = change
    if (after.type === 'Invalid') {
      throw invalidField('policyType', "invalid policy type. valid types are 'Dial' and 'Bind'", 'Invalid')
    }
    const { startsAt, until, reason } = after
    if (startsAt !== null && until !== null && until <= startsAt) {
      throw invalidField('until', 'until must be later than startsAt', instantText(until))
    }
    const isAsBefore = before?.startsAt === startsAt && before.until === until && before.reason === reason
    const isGiven = startsAt !== null || until !== null || reason !== null
    const giver = isGiven ? (knownCaller(call)?.identity.name ?? null) : null
    return { ...after, phase: phaseAt(after, after.updatedAt), givenBy: isAsBefore ? before.givenBy : giver }
  },
}

/** Only the controller changes or deletes the system policy of a tunneler-enabled edge router. */
export const edgeRouterPolicyBehaviour: Behaviour<EdgeRouterPolicies> = {
  resource: edgeRouterPolicies,

  async guard(_context, _tx, _call, change) {
    if (!change.before?.isSystem) return change.after
    const deleting = change.kind === 'delete'
    const code = deleting ? 'ENTITY_CAN_NOT_BE_DELETED' : 'ENTITY_CAN_NOT_BE_UPDATED'
    const verb = deleting ? 'delete' : 'update'
    const message = `cannot ${verb} system edge router policy in a non-system context (id=${change.before.id})`
    throw new ControllerError(code, { code: 'UNHANDLED', message })
  },
}
