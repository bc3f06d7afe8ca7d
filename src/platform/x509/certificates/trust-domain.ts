import type { Library } from '../encoding/library.ts'
import type { Certificate } from './certificate.ts'
import { fingerprintOf } from './facts.ts'

/**
 * The trust domain that the network's own certificates name in a `spiffe://` URI; the first one found counts. Without
 * any it is the SHA-1 fingerprint of the root.
 */
export async function findTrustDomain(
  library: Library,
  own: readonly Certificate[],
  root: Certificate,
): Promise<string> {
  for (const name of own.flatMap(({ extensions }) => extensions.altNames)) {
    const trustDomain = name.kind === 'uri' ? /^spiffe:\/\/([^/?#]+)/i.exec(name.value)?.[1] : undefined
    if (trustDomain !== undefined) return trustDomain.toLowerCase()
  }
  return fingerprintOf(library, root)
}
