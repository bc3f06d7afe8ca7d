import type { PkiMaterial } from '../../../../src/index.ts'
import {
  type Address,
  isWildcardHost,
  openPkiDirectory,
  type PkiFiles,
  pkiFilesIn,
  readPkiFiles,
  serverCertificateFacts,
} from '../../../node/index.ts'
import type { ServeOptions } from './serve-options.ts'

/** Certificates and keys, and the files that they were read from. */
export interface Certificates {
  readonly material: PkiMaterial
  readonly files: PkiFiles
  /** What the operator should know of them, one line each. */
  readonly notes: readonly string[]
}

const DEFAULT_TRUST_DOMAIN = 'portcullis.internal'

/**
 * Opens the PKI that the options name, creating it in a directory that has none. `now` is in milliseconds.
 * Throws `PkiFileError` naming the file that cannot be used.
 */
export async function openCertificates(options: ServeOptions, now: number): Promise<Certificates> {
  const { pki, listen, advertise = listen } = options
  const hosts = [advertise.host, listen.host, 'localhost', '127.0.0.1', '::1'].filter((host) => !isWildcardHost(host))
  const request = {
    hosts: [...new Set(hosts)],
    trustDomain: options.trustDomain ?? DEFAULT_TRUST_DOMAIN,
    now,
  }
  if (pki.kind === 'files') {
    const material = await readPkiFiles(pki.files)
    return { material, files: pki.files, notes: expiryWarnings(material, now) }
  }
  const { created, ...material } = await openPkiDirectory(pki.directory, request)
  const notes = created ? [`created certificates and keys in ${pki.directory}`] : []
  return {
    material,
    files: pkiFilesIn(pki.directory),
    notes: [...notes, ...expiryWarnings(material, now)],
  }
}

/** Warnings for an operator about a renewed server certificate for `host` at `now` (ms), one line each. */
export function serverWarnings(
  { serverCertPem }: Pick<PkiMaterial, 'serverCertPem'>,
  { host }: Address,
  now: number,
): readonly string[] {
  const { names, covers } = serverCertificateFacts(serverCertPem)
  const expiry = expiryWarnings({ serverCertPem }, now)
  if (covers(host)) return expiry
  const list = names.length === 0 ? 'no host' : names.join(', ')
  return [`warning: the server certificate is not for the host of --advertise, ${host}: it is for ${list}`, ...expiry]
}

/** Of a controller that starts: that one tells by itself when a certificate is for another host. */
function expiryWarnings({ serverCertPem }: Pick<PkiMaterial, 'serverCertPem'>, now: number): readonly string[] {
  const { notAfter } = serverCertificateFacts(serverCertPem)
  if (notAfter > now) return []
  return [`warning: the server certificate expired on ${new Date(notAfter).toISOString().slice(0, 10)}`]
}
