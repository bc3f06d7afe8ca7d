import type { ModelEntity } from '../../../ports/fabric/index.ts'
import type { CertificateFacts, CertificateProblem } from '../../../ports/pki.ts'
import type { ReadTransaction } from '../../../ports/storage.ts'
import { cas } from '../../../resources/enrollment/cas.ts'
import { signingKeys } from '../../../resources/login/signing-keys.ts'
import type { EngineContext } from '../../context/context.ts'

export type PublicKey = Extract<ModelEntity, { type: 'public-key' }>

/**
 * The keys that routers verify with: tokens by the certificates of the controllers, also former ones whose tokens are still
 * good, clients by the roots of the network and by
 * the third parties that it trusts.
 */
export async function modelKeys({ pki }: EngineContext, tx: ReadTransaction): Promise<readonly PublicKey[]> {
  const server = await pki.serverCertificate()
  const { items: signing } = await tx.collection(signingKeys).find()
  const signers = await Promise.all(signing.map(({ certPem }) => pki.readCertificates(certPem)))
  const { items } = await tx.collection(cas).find()
  const texts = [pki.caBundlePem, ...items.filter(({ isVerified }) => isVerified).map(({ certPem }) => certPem)]
  const authorities = await Promise.all(texts.map((pem) => pki.readCertificates(pem)))
  const read = authorities.flatMap((certificates) => (typeof certificates === 'string' ? [] : certificates))
  const keys = [
    publicKey(server, ['jwt', 'client-certificates']),
    ...signers.flatMap(leafOf).map((leaf) => publicKey(leaf, ['jwt', 'client-certificates'])),
    ...read.map((certificate) => publicKey(certificate, ['client-certificates'])),
  ]
  return [...new Map(keys.reverse().map((key) => [key.kid, key])).values()]
}

/** The certificate whose key signs tokens of the network; others may stand behind it. */
function leafOf(certificates: readonly CertificateFacts[] | CertificateProblem): readonly CertificateFacts[] {
  return typeof certificates === 'string' ? [] : certificates.slice(0, 1)
}

function publicKey({ fingerprint: kid, der: data }: CertificateFacts, usages: PublicKey['usages']): PublicKey {
  return { type: 'public-key', kid, data, usages }
}
