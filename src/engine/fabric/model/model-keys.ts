import type { ModelEntity } from '../../../ports/fabric/index.ts'
import type { CertificateFacts } from '../../../ports/pki.ts'
import type { ReadTransaction } from '../../../ports/storage.ts'
import { cas } from '../../../resources/cas.ts'
import type { EngineContext } from '../../context/context.ts'

type PublicKey = Extract<ModelEntity, { type: 'public-key' }>

/**
 * The keys that routers verify with: tokens by the controller's certificate, clients by the roots of the network and by
 * the third parties that it trusts.
 */
export async function modelKeys({ pki }: EngineContext, tx: ReadTransaction): Promise<readonly PublicKey[]> {
  const server = await pki.serverCertificate()
  const { items } = await tx.collection(cas).find()
  const texts = [pki.caBundlePem, ...items.filter(({ isVerified }) => isVerified).map(({ certPem }) => certPem)]
  const authorities = await Promise.all(texts.map((pem) => pki.readCertificates(pem)))
  const read = authorities.flatMap((certificates) => (typeof certificates === 'string' ? [] : certificates))
  const keys = [
    publicKey(server, ['jwt', 'client-certificates']),
    ...read.map((certificate) => publicKey(certificate, ['client-certificates'])),
  ]
  return [...new Map(keys.reverse().map((key) => [key.kid, key])).values()]
}

function publicKey({ fingerprint: kid, der: data }: CertificateFacts, usages: PublicKey['usages']): PublicKey {
  return { type: 'public-key', kid, data, usages }
}
