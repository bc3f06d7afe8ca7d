import { normalPostureCheckOf } from '../../access/posture/posture-checks.ts'
import type { EngineContext } from '../../context/context.ts'
import { servicePolicies } from '../../facts/access/policy.resource.ts'
import { isInForce } from '../../facts/access/policy-term.rules.ts'
import { postureChecks } from '../../facts/access/posture/posture-check.resource.ts'
import { isDisabled } from '../../facts/authority/authority.rules.ts'
import { configs, configTypes, serviceConfigs } from '../../facts/configs/config.resource.ts'
import { signingKeys } from '../../facts/credentials/signing-key.resource.ts'
import { cas } from '../../facts/enrollment/ca.resource.ts'
import type { ModelEntity } from '../../facts/fabric/messages/index.ts'
import { identities } from '../../facts/identities/identity.resource.ts'
import { revocations } from '../../facts/login/revocation.resource.ts'
import { networkAuthorities } from '../../facts/pki/network-authority.resource.ts'
import { edgeRouters } from '../../facts/routers/edge-router.resource.ts'
import { transitRouters } from '../../facts/routers/transit-router.resource.ts'
import { services } from '../../facts/services/service.resource.ts'
import type { RecordOf, Resource } from '../../kernel/declaration/resource.ts'
import { equals } from '../../kernel/filter/index.ts'
import type { CertificateFacts, CertificateProblem } from '../../ports/pki.ts'
import type { ReadTransaction } from '../../ports/record-storage.ts'

type Association = RecordOf<typeof serviceConfigs>

/** A kind of record that routers decide by, and its form for them. */
export interface ModelKind {
  readonly resource: Resource
  readonly type: ModelEntity['type']
  /** A record as routers see it at `now` (epoch ms); undefined for a record that routers must not see. */
  show(tx: ReadTransaction, record: RecordOf<Resource>, now: number): Promise<ModelEntity | undefined>
}

/** In the order in which routers must learn of them: no entity names an entity of a later kind. */
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
  kind(servicePolicies, 'service-policy', async (_tx, policy, now) => {
    const { id, name, type: policyType } = policy
    if (policyType === 'Invalid' || !isInForce(policy, now)) return undefined
    return { type: 'service-policy', id, name, policyType }
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

async function configEntity(tx: ReadTransaction, config: RecordOf<typeof configs>): Promise<ModelEntity | undefined> {
  const { id, name, configTypeId: typeId, data } = config
  const configType = await tx.collection(configTypes).get(typeId)
  const { target } = configType ?? {}
  if (target !== 'service' && target !== 'router') return undefined
  return { type: 'config', target, id, typeId, name, dataJson: JSON.stringify(data) }
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

export type PublicKey = Extract<ModelEntity, { type: 'public-key' }>

/**
 * The keys that routers verify with: for tokens the certificates of the controllers, including former certificates whose tokens are still
 * valid; for clients the roots of the network and of trusted third parties.
 */
export async function modelKeys({ pki, clock }: EngineContext, tx: ReadTransaction): Promise<readonly PublicKey[]> {
  const now = clock.now()
  const server = await pki.serverCertificate()
  const { items: signing } = await tx.collection(signingKeys).find()
  const signers = await Promise.all(signing.map(({ certPem }) => pki.readCertificates(certPem)))
  const { items } = await tx.collection(cas).find()
  const { items: stored } = await tx.collection(networkAuthorities).find()
  const own = stored.filter(({ goodUntil }) => goodUntil === null || goodUntil >= now)
  // Another process may already sign by an authority that this process does not use yet.
  const further = own.flatMap(({ rootPem, chainPem }) => [rootPem, chainPem])
  const texts = [
    pki.caBundlePem,
    ...further,
    ...items.filter(({ isVerified }) => isVerified).map(({ certPem }) => certPem),
  ]
  const authorities = await Promise.all(texts.map((pem) => pki.readCertificates(pem)))
  const read = authorities.flatMap((certificates) => (typeof certificates === 'string' ? [] : certificates))
  const keys = [
    publicKey(server, ['jwt', 'client-certificates']),
    ...signers.flatMap(leafOf).map((leaf) => publicKey(leaf, ['jwt', 'client-certificates'])),
    ...read.map((certificate) => publicKey(certificate, ['client-certificates'])),
  ]
  return [...new Map(keys.reverse().map((key) => [key.kid, key])).values()]
}

/** The certificate whose key signs tokens of the network; others may follow it. */
function leafOf(certificates: readonly CertificateFacts[] | CertificateProblem): readonly CertificateFacts[] {
  return typeof certificates === 'string' ? [] : certificates.slice(0, 1)
}

function publicKey({ fingerprint: kid, der: data }: CertificateFacts, usages: PublicKey['usages']): PublicKey {
  return { type: 'public-key', kid, data, usages }
}
