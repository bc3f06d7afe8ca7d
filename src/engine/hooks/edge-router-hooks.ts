import { ControllerError } from '../../domain/errors.ts'
import type { WriteTransaction } from '../../ports/storage.ts'
import type { edgeRouters } from '../../resources/edge-routers.ts'
import { identities } from '../../resources/identities.ts'
import { edgeRouterPolicies } from '../../resources/policies.ts'
import type { RecordOf } from '../../resources/resource.ts'
import { transitRouters } from '../../resources/transit-routers.ts'
import { checkAttachedConfigs } from '../configs/attached-configs.ts'
import { PLAIN_IDENTITY } from '../identities/new-identity.ts'
import { deleteEntity } from '../records/deletion.ts'
import { newRecord } from '../records/new-record.ts'
import type { ResourceHooks } from '../records/resource-hooks.ts'
import { refuseTakenName } from '../records/unique-fields.ts'
import { prepareRouter } from './router-preparation.ts'

type EdgeRouter = RecordOf<typeof edgeRouters>

/**
 * What is special about edge routers: they are created with an enrollment, and a tunneler-enabled one has an identity of
 * its own and a system policy that lets this identity use it (interface: Edge router).
 */
export const edgeRouterHooks: ResourceHooks<typeof edgeRouters> = {
  prepareCreate: (context, _call, { id, now }) => prepareRouter(context, { method: 'erott', edgeRouterId: id }, now),

  async guard(_context, tx, _call, change) {
    if (change.after !== undefined) {
      await refuseTakenName(tx, transitRouters, change.after.name)
      await checkAttachedConfigs(tx, 'router', change.before, change.after)
    }
    const wasTunneler = change.before?.isTunnelerEnabled ?? false
    const isTunneler = change.after?.isTunnelerEnabled ?? false
    if (wasTunneler && !isTunneler) await removeTunnelerIdentity(tx, change.before?.id ?? '')
    if (isTunneler && change.after !== undefined) await keepTunnelerIdentity(tx, change.after)
    return change.after
  },
}

async function removeTunnelerIdentity(tx: WriteTransaction, id: string): Promise<void> {
  await deleteEntity(tx, edgeRouterPolicies, id)
  await deleteEntity(tx, identities, id)
}

async function keepTunnelerIdentity(tx: WriteTransaction, router: EdgeRouter): Promise<void> {
  const { id, name, updatedAt } = router
  const identity = await tx.collection(identities).get(id)
  if (identity !== undefined) {
    if (identity.name !== name) await tx.collection(identities).update({ ...identity, name, updatedAt })
    return
  }
  await tx.collection(identities).insert(newRecord(id, updatedAt, { ...PLAIN_IDENTITY, name, typeId: 'Router' }))
  await tx.collection(edgeRouterPolicies).insert(
    newRecord(id, updatedAt, {
      name: `edge-router-${id}-system`,
      semantic: 'AnyOf',
      edgeRouterRoles: [`@${id}`],
      identityRoles: [`@${id}`],
      isSystem: true,
    }),
  )
}

/** Refuses to change or delete the system policy of a tunneler-enabled edge router. */
export const edgeRouterPolicyHooks: ResourceHooks<typeof edgeRouterPolicies> = {
  prepareCreate: async () => ({ system: { isSystem: false } }),

  async guard(_context, _tx, _call, change) {
    if (!change.before?.isSystem) return change.after
    const deleting = change.kind === 'delete'
    const code = deleting ? 'ENTITY_CAN_NOT_BE_DELETED' : 'ENTITY_CAN_NOT_BE_UPDATED'
    const verb = deleting ? 'delete' : 'update'
    const message = `cannot ${verb} system edge router policy in a non-system context (id=${change.before.id})`
    throw new ControllerError(code, { code: 'UNHANDLED', message })
  },
}
