import type { IssuedRouterCertificates, Pki } from '../../../ports/pki.ts'
import { type Certificate, readCertificate } from '../certificates/certificate.ts'
import { certificateFacts, pemOf } from '../certificates/facts.ts'
import { validityOf } from '../certificates/validity.ts'
import type { Library } from '../encoding/library.ts'
import type { SigningKey } from '../keys/signing-key.ts'
import { nameWithCommonName } from '../names/name.ts'
import { issueCertificate } from './issue.ts'
import { routerExtensions } from './router-extensions.ts'
import { readSigningRequest, type SigningRequest } from './signing-request.ts'

/** The authority that signs, with the certificates between it and the root. */
export interface Issuer {
  readonly signing: Certificate
  readonly intermediates: readonly Certificate[]
  readonly signer: SigningKey
}

type RouterRequest = Parameters<Pki['issueRouterCertificates']>[0]

/** Issues both certificates of a router, or neither. */
export async function issueRouterCertificates(
  library: Library,
  { signing, intermediates, signer }: Issuer,
  request: RouterRequest,
): Promise<IssuedRouterCertificates> {
  const { routerId, namesItself, spiffeId, now } = request
  const server = await readSigningRequest(library, request.serverCsrPem)
  if (typeof server === 'string') return { issued: false, of: 'server', problem: server }
  const client = await readSigningRequest(library, request.clientCsrPem)
  if (typeof client === 'string') return { issued: false, of: 'client', problem: client }
  const issue = async (accepted: SigningRequest, purpose: 'client' | 'server', subject: Uint8Array) => {
    const extensions = routerExtensions(library, purpose, { names: accepted.requestedNames(), spiffeId, signing })
    const issuer = signing.subjectDer
    const template = { issuer, subject, publicKey: accepted.publicKey, extensions, ...validityOf(now, 1) }
    return readCertificate(library, await issueCertificate(library, template, signer))
  }
  if (namesItself && client.subject.commonName !== routerId)
    return { issued: false, of: 'client', problem: 'wrong-name' }
  const names = namesItself ? client.subject : nameWithCommonName(library, routerId)
  try {
    const [clientLeaf, serverLeaf] = await Promise.all([
      issue(client, 'client', names.der),
      issue(server, 'server', server.subject.der),
    ])
    return {
      issued: true,
      client: await certificateFacts(library, clientLeaf),
      clientChainPem: pemOf(clientLeaf, ...intermediates),
      serverChainPem: pemOf(serverLeaf, ...intermediates),
    }
  } catch {
    // The names that were asked for are malformed; nothing was handed out.
    return { issued: false, of: 'server', problem: 'unparsable' }
  }
}
