import type { WriteTransaction } from '../../ports/storage.ts'
import { edgeRouterPolicies } from '../../resources/access/policies.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import { identities } from '../../resources/identities/identities.ts'
import { type EdgeRouters, edgeRouters } from '../../resources/routers/edge-routers.ts'
import { transitRouters } from '../../resources/routers/transit-routers.ts'
import { checkAttachedConfigs } from '../configs/attached-configs.ts'
import { whatIsLeft } from '../context/recorded-changes.ts'
import { PLAIN_IDENTITY } from '../identities/new-identity.ts'
import type { Behaviour } from '../records/behaviour.ts'
import { deletePart } from '../records/deletion.ts'
import { newRecord } from '../records/new-record.ts'
import { MORE, type Part } from '../records/parts.ts'
import { refuseTakenName } from '../records/unique-fields.ts'
import { inviteRouter, outstandingEnrollments } from './outstanding-enrollment.ts'
import { interfacesOf, presenceMembers } from './presence-members.ts'

type EdgeRouter = RecordOf<EdgeRouters>

const UNKNOWN_VERSION = { arch: '', buildDate: '', os: '', revision: '', version: '' }

/**
 * What is special about edge routers: they are created with an enrollment, and a tunneler-enabled one has an identity of
 * its own and a system policy that lets this identity use it.
 */
export const edgeRouterBehaviour: Behaviour<EdgeRouters> = {
  resource: edgeRouters,

  async prepare(context, _call, { kind, id, now }) {
    return kind === 'create' ? inviteRouter(context, { method: 'erott', edgeRouterId: id }, now) : undefined
  },

  async guard(_context, tx, _call, change) {
    if (change.after !== undefined) {
      await refuseTakenName(tx, transitRouters, change.after.name)
      await checkAttachedConfigs(tx, 'router', change.before, change.after)
    }
    if (change.after?.isTunnelerEnabled) await keepTunnelerIdentity(tx, change.after)
    return change.after
  },

  async precede(tx, { before, after }, part) {
    if (!before.isTunnelerEnabled || after?.isTunnelerEnabled) return undefined
    return removeTunnelerIdentity(tx, before.id, part)
  },

  /** Presence and, until a router is verified, its enrollment. */
  async members(context, tx, call, records) {
    const presence = await context.presence.at(tx)
    const outstanding = await outstandingEnrollments(tx, call, 'edgeRouterId', records)
    return records.map(({ id }) => ({
      ...presenceMembers(presence, id),
      interfaces: interfacesOf(presence, id),
      versionInfo: presence.connectionOf(id)?.versionInfo ?? UNKNOWN_VERSION,
      ...outstanding.get(id),
    }))
  },
}

async function removeTunnelerIdentity(tx: WriteTransaction, id: string, part: Part): Promise<undefined | typeof MORE> {
  const identity = await whatIsLeft(() => tx.collection(identities).get(id))
  if (identity !== undefined) part.intend({ operation: 'delete', kind: identities.name, id, before: identity })
  if ((await deletePart(tx, identities, id, part)) === MORE) return MORE
  return (await deletePart(tx, edgeRouterPolicies, id, part)) === MORE ? MORE : undefined
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
