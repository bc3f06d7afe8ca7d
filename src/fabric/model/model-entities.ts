import { equals } from '../../../domain/filter/index.ts'
import { isDisabled } from '../../../domain/identity.ts'
import type { ModelEntity } from '../../../ports/fabric/index.ts'
import type { ReadTransaction } from '../../../ports/storage.ts'
import { servicePolicies } from '../../../resources/access/policies.ts'
import type { RecordOf, Resource } from '../../../resources/declaration/resource.ts'
import { identities } from '../../../resources/identities/identities.ts'
import { revocations } from '../../../resources/login/revocations.ts'
import { postureChecks } from '../../../resources/posture/posture-checks.ts'
import { edgeRouters } from '../../../resources/routers/edge-routers.ts'
import { transitRouters } from '../../../resources/routers/transit-routers.ts'
import { configTypes } from '../../../resources/services/config-types.ts'
import { configs } from '../../../resources/services/configs.ts'
import { serviceConfigs } from '../../../resources/services/service-configs.ts'
import { services } from '../../../resources/services/services.ts'
import { normalPostureCheckOf } from '../../posture/posture-check-of.ts'

type Association = RecordOf<typeof serviceConfigs>

/** One kind of record that routers decide by, and how it is shown to them. */
export interface ModelKind {
  readonly resource: Resource
  readonly type: ModelEntity['type']
  /** A record as routers see it at `now` (epoch ms); undefined for one that is not theirs to see. */
  show(tx: ReadTransaction, record: RecordOf<Resource>, now: number): Promise<ModelEntity | undefined>
}

/** In the order in which routers must learn of them: nothing names what comes later. */
export const MODEL_KINDS: readonly ModelKind[] = [
  kind(configTypes, 'config-type', async (_tx, { id, name, target }) => ({ type: 'config-type', id, name, target })),
  kind(configs, 'config', configEntity),
  kind(identities, 'identity', identityEntity),
  kind(services, 'service', async (_tx, { id, name, encryptionRequired, configs }) => {
    return { type: 'service', id, name, encryptionRequired, configs }
  }),
  kind(edgeRouters, 'router', async (_tx, router) => routerEntity(router)),
  kind(transitRouters, 'router', async (_tx, router) => routerEntity(router)),
  kind(postureChecks, 'posture-check', async (_tx, record) => ({
    type: 'posture-check',
    check: normalPostureCheckOf(record),
  })),
  kind(servicePolicies, 'service-policy', async (_tx, { id, name, type: policyType }) => {
    return policyType === 'Invalid' ? undefined : { type: 'service-policy', id, name, policyType }
  }),
  kind(revocations, 'revocation', async (_tx, { id, type, expiresAt, updatedAt }) => {
    const issuedBefore = type === 'IDENTITY' ? updatedAt : undefined
    return { type: 'revocation', id, kind: type, expiresAt, issuedBefore }
  }),
]

function kind<R extends Resource>(
  resource: R,
  type: ModelEntity['type'],
  show: (tx: ReadTransaction, record: RecordOf<R>, now: number) => Promise<ModelEntity | undefined>,
): ModelKind {
  // The records that it is given are those of the resource.
  return { resource, type, show: (tx, record, now) => show(tx, record as RecordOf<R>, now) }
}

/** Settings of routers are nobody else's business. */
async function configEntity(tx: ReadTransaction, config: RecordOf<typeof configs>): Promise<ModelEntity | undefined> {
  const { id, name, configTypeId: typeId, data } = config
  const configType = await tx.collection(configTypes).get(typeId)
  return configType?.target === 'service'
    ? { type: 'config', id, typeId, name, dataJson: JSON.stringify(data) }
    : undefined
}

async function identityEntity(
  tx: ReadTransaction,
  identity: RecordOf<typeof identities>,
  now: number,
): Promise<ModelEntity> {
  const { id, name, defaultHostingCost, defaultHostingPrecedence, appData } = identity
  const { items } = await tx.collection(serviceConfigs).find({ where: equals('identityId', id) })
  return {
    type: 'identity',
    id,
    name,
    defaultHostingCost,
    defaultHostingPrecedence,
    serviceHostingCosts: new Map(Object.entries(identity.serviceHostingCosts)),
    serviceHostingPrecedences: new Map(Object.entries(identity.serviceHostingPrecedences)),
    appDataJson: Object.keys(appData).length === 0 ? '' : JSON.stringify(appData),
    serviceConfigs: byService(items),
    disabled: isDisabled(identity, now),
  }
}

function byService(associations: readonly Association[]): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const grouped = new Map<string, Map<string, string>>()
  for (const { serviceId, configTypeId, configId } of associations) {
    const configsOfService = grouped.get(serviceId) ?? new Map<string, string>()
    grouped.set(serviceId, configsOfService.set(configTypeId, configId))
  }
  return grouped
}

function routerEntity({ id, name, fingerprint, configs, disabled }: RecordOf<typeof transitRouters>): ModelEntity {
  return { type: 'router', id, name, fingerprint: fingerprint ?? '', configs, disabled }
}
