import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { PkiMaterial } from '../../src/index.ts'
import { openPkiDirectory } from '../node/index.ts'
import type { CertificateFiles, ServeOptions } from './serve-options.ts'
import { messageOf, UsageError } from './usage-error.ts'

/** The certificates that the command line names, and where they came from in words. Rejects with a {@link UsageError}. */
export async function openCertificates(
  { certificates, trustDomain, listen, advertise }: ServeOptions,
  now: number,
): Promise<{ readonly material: PkiMaterial; readonly source: string }> {
  if (!('directory' in certificates)) {
    return { material: await readFiles(certificates), source: `certificate ${certificates.serverCert}` }
  }
  const { directory } = certificates
  const named = [advertise?.host, listen.host, 'localhost', '127.0.0.1', '::1'].filter((host) => host !== undefined)
  const hosts = [...new Set(named)].filter((host) => host !== '0.0.0.0' && host !== '::')
  const { material, created } = await openPkiDirectory(directory, {
    hosts,
    trustDomain: trustDomain ?? 'portcullis.internal',
    now,
  }).catch((error: unknown) => {
    throw new UsageError(`--pki: ${messageOf(error)}`)
  })
  return { material, source: `pki ${directory}${created ? ' (new)' : ''}` }
}

async function readFiles(files: CertificateFiles): Promise<PkiMaterial> {
  const [serverCertPem, serverKeyPem, caPem, signingCertPem, signingKeyPem] = await Promise.all([
    read('--server-cert', files.serverCert),
    read('--server-key', files.serverKey),
    read('--ca', files.ca),
    read('--signing-cert', files.signingCert),
    read('--signing-key', files.signingKey),
  ])
  return { caPem, signingCertPem, signingKeyPem, serverCertPem, serverKeyPem }
}

async function read(option: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new UsageError(`${option}: ${messageOf(error)}`)
  }
}

/** What is wrong with sending devices to `host` with this server certificate, if anything. */
export function hostMismatch(serverCertPem: string, host: string): string | undefined {
  const certificate = new X509Certificate(serverCertPem)
  if (certificate.checkHost(host) !== undefined || certificate.checkIP(host) !== undefined) return undefined
  return `the server certificate does not name ${host} (--advertise): it is for ${certificate.subjectAltName}`
}
