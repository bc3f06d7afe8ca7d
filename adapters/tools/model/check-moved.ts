import { X509Certificate } from 'node:crypto'
import type { ImportedEntity, Operator } from '../../../src/index.ts'
import { compact, MODEL_KINDS, sameValue } from '../../../src/model/index.ts'
import { type AdminOptions, Connection } from './model-connection.ts'

/** How many pairs of identity and service are asked about on both sides. */
const MOST_PAIRS = 200

/** States that no caller writes. */
const STATES = ['isSystem', 'isVerified', 'disabled', 'isAdmin', 'fingerprint'] as const

/**
 * Compares a store with the controller of its import: every entity by its fields, and a sample of pairs of identity and service by their
 * access and their edge routers. Answers a line for each difference.
 *
 * @example
 * const { entities } = await readSource(admin)
 * const { differences } = await checkMoved(admin, entities, operator)
 */
export async function checkMoved(
  source: AdminOptions,
  entities: readonly ImportedEntity[],
  operator: Operator,
): Promise<{ readonly differences: readonly string[]; readonly pairs: number }> {
  const differences: string[] = []
  for (const kind of MODEL_KINDS) {
    const { name, definition } = kind.resource
    const moved = new Map((await operator.list(name)).map((entity) => [String(entity.id), entity]))
    for (const { entity } of entities.filter(({ resource }) => resource === name)) {
      const own = moved.get(String(entity.id))
      const subject = `${definition.singular} ${String(entity.name)}`
      if (own === undefined) differences.push(`${subject} is missing`)
      else {
        const states = STATES.filter((state) => entity[state] !== undefined && own[state] !== entity[state])
        if (!sameValue(sorted(compact(kind, entity)), sorted(compact(kind, own))))
          differences.push(`${subject} differs`)
        else if (states.length > 0) differences.push(`${subject} differs in ${states.join(', ')}`)
      }
    }
  }
  const pairs = pairsOf(entities)
  const { management } = new Connection(source)
  for (const [identity, service] of pairs) {
    const params = { id: String(identity.id), serviceId: String(service.id) }
    const { data } = await management.call('GET /identities/{id}/policy-advice/{serviceId}', { params })
    const [dial, bind] = [
      await operator.explain(params.id, params.serviceId, 'Dial'),
      await operator.explain(params.id, params.serviceId, 'Bind'),
    ]
    const common = dial.edgeRouters.common.map(({ id }) => id)
    const wanted = (data.commonRouters ?? []).map(({ id }) => id)
    const isSame =
      // Other controllers leave out false members.
      (data.isDialAllowed ?? false) === dial.policies.some(({ applies }) => applies) &&
      (data.isBindAllowed ?? false) === bind.policies.some(({ applies }) => applies) &&
      sameValue(common.toSorted(), wanted.toSorted())
    if (!isSame) differences.push(`access of ${String(identity.name)} to ${String(service.name)} differs`)
  }
  return { differences, pairs: pairs.length }
}

/** Sets have no order, and null says as little as a member that is left out. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value))
    return value.map(sorted).toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  if (typeof value !== 'object' || value === null) return value
  const told = Object.entries(value).filter(([, one]) => one !== null)
  return Object.fromEntries(told.map(([member, one]) => [member, sorted(one)]))
}

type Shown = ImportedEntity['entity']

/** A sample that is the same in every run: pairs from all over both lists. */
function pairsOf(entities: readonly ImportedEntity[]): readonly (readonly [Shown, Shown])[] {
  const of = (name: string) => entities.filter(({ resource }) => resource === name).map(({ entity }) => entity)
  const [identities, services] = [of('identities'), of('services')]
  const all = identities.length * services.length
  const step = Math.max(1, Math.ceil(all / MOST_PAIRS))
  const pairs: (readonly [Shown, Shown])[] = []
  for (let position = 0; position < all; position += step) {
    const identity = identities[Math.floor(position / services.length)]
    const service = services[position % services.length]
    if (identity !== undefined && service !== undefined) pairs.push([identity, service])
  }
  return pairs
}

/**
 * Whether the chain of a server certificate leads to a certificate of a bundle: devices trust their bundle alone.
 *
 * @example
 * if (!leadsTo(controller.tls().cert, controller.caPem)) console.log('devices will not trust this controller')
 */
export function leadsTo(serverCertPem: string, bundlePem: string): boolean {
  const [leaf, ...others] = certificatesIn(serverCertPem)
  const bundle = certificatesIn(bundlePem)
  const candidates = [...others, ...bundle]
  const seen = new Set<string>()
  for (let current = leaf; current !== undefined && !seen.has(current.fingerprint256); ) {
    const { fingerprint256 } = current
    if (bundle.some((known) => known.fingerprint256 === fingerprint256)) return true
    seen.add(fingerprint256)
    const child: X509Certificate = current
    current = candidates.find((issuer) => child.checkIssued(issuer) && child.verify(issuer.publicKey))
  }
  return false
}

function certificatesIn(pem: string): readonly X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return blocks.map((block) => new X509Certificate(block))
}
