import { edgeRouters } from '../../resources/edge-routers.ts'
import { enrollments } from '../../resources/enrollments.ts'
import type { transitRouters } from '../../resources/transit-routers.ts'
import { checkAttachedConfigs } from '../attached-configs.ts'
import { inviteToEnroll } from '../enrollment-tokens.ts'
import { refuseTakenName } from '../unique-fields.ts'
import type { ResourceHooks } from './resource-hooks.ts'

/** Routers are created with an enrollment, and share their names with edge routers (interface: Router). */
export const transitRouterHooks: ResourceHooks<typeof transitRouters> = {
  async prepareCreate(context, _call, { id, now }) {
    const enrollment = await inviteToEnroll(context, { method: 'trott', transitRouterId: id }, now)
    return {
      system: {
        certPem: null,
        fingerprint: null,
        isVerified: false,
        unverifiedCertPem: null,
        unverifiedFingerprint: null,
      },
      dependents: (tx) => tx.collection(enrollments).insert(enrollment),
    }
  },

  async guard(_context, tx, _call, { before, after }) {
    if (after === undefined) return after
    await refuseTakenName(tx, edgeRouters, after.name)
    await checkAttachedConfigs(tx, 'router', before, after)
    return after
  },
}
