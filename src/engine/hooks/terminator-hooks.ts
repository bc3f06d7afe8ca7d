import type { terminators } from '../../resources/terminators.ts'
import type { ResourceHooks } from '../records/resource-hooks.ts'

/** A terminator stays with its service; an empty binding follows from the address (interface: Other shapes). */
export const terminatorHooks: ResourceHooks<typeof terminators> = {
  prepareCreate: async () => ({ system: { hostId: '' } }),

  async guard(_context, _tx, _call, { before, after }) {
    if (after === undefined) return after
    const implied = after.address.startsWith('udp:') ? 'udp' : 'transport'
    return { ...after, binding: after.binding || implied, serviceId: before?.serviceId ?? after.serviceId }
  },
}
