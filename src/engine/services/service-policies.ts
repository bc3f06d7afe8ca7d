import { invalidField } from '../../domain/errors.ts'
import { type ServicePolicies, servicePolicies } from '../../resources/access/policies.ts'
import type { Behaviour } from '../records/behaviour.ts'

/** A service policy grants Dial or Bind; `Invalid` exists in the vocabulary only. */
export const servicePolicyBehaviour: Behaviour<ServicePolicies> = {
  resource: servicePolicies,

  async guard(_context, _tx, _call, change) {
    if (change.after?.type === 'Invalid') {
      throw invalidField('policyType', "invalid policy type. valid types are 'Dial' and 'Bind'", 'Invalid')
    }
    return change.after
  },
}
