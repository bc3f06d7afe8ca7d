import type * as x509 from '@peculiar/x509'
import type { Library } from '../encoding/library.ts'
import { hostName } from '../names/general-name.ts'

const SUBJECT_ALT_NAME = '2.5.29.17'
const MAX_NAMES = 100

/**
 * The host names, IP addresses and mail names that a signing request asks for. Names of other kinds, URIs among them, are
 * left out: what a certificate stands for is the network's to say. Throws on more than 100 names or a malformed one.
 */
export function requestedNames({ x509 }: Library, request: x509.Pkcs10CertificateRequest): x509.JsonGeneralName[] {
  const extension = request.getExtension(SUBJECT_ALT_NAME)
  const names = extension instanceof x509.SubjectAlternativeNameExtension ? extension.names.toJSON() : []
  if (names.length > MAX_NAMES) throw new Error('signing request asks for too many names')
  return names.flatMap(({ type, value }) => {
    if (type === 'dns' || type === 'ip') return [hostName(value)]
    return type === 'email' ? [{ type, value }] : []
  })
}
