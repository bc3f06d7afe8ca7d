import type { RecordOf, Resource } from '../../../resources/declaration/resource.ts'
import type { EngineContext } from '../../context/context.ts'
import type { ImportedEntity } from './imported-entity.ts'

/**
 * The authenticator of another controller as a record, or why it is left out. Verifiers of passwords are shown by no
 * controller. A certificate that leads to this network's own authority can be extended here; one of a third party belongs
 * to that party.
 */
export async function importedCredential(
  { pki }: EngineContext,
  record: RecordOf<Resource>,
  entities: readonly ImportedEntity[],
  now: number,
): Promise<RecordOf<Resource> | string> {
  const { id, identityId, method, username } = record
  if (method !== 'cert')
    return `the password of ${String(username)} (identity ${String(identityId)}) is not shown: set a new one`
  const certificates = await pki.readCertificates(String(record.certPem))
  const [leaf] = typeof certificates === 'string' ? [] : certificates
  if (typeof certificates === 'string' || leaf === undefined)
    return `the certificate of authenticator ${id} cannot be read`
  const chain = certificates.map(({ der }) => der)
  const own = await pki.verifyClientChain(chain, now)
  const authorities = entities
    .filter(({ resource, entity }) => resource === 'cas' && entity.isVerified === true)
    .map(({ entity }) => ({ id: String(entity.id), certPem: String(entity.certPem) }))
  const party = own.trusted ? undefined : await pki.verifyThirdPartyChain(chain, authorities, now)
  return {
    ...record,
    certPem: leaf.pem,
    fingerprint: leaf.fingerprint,
    isIssuedByNetwork: own.trusted,
    caId: party?.trusted === true ? party.authorityId : null,
  }
}
