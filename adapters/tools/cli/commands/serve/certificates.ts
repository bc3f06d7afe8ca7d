import { readFile } from 'node:fs/promises'
import type { PkiMaterial } from '../../../../../src/index.ts'
import {
  type Address,
  isWildcardHost,
  openPkiDirectory,
  type PkiFiles,
  pkiFilesIn,
  readPkiFiles,
  readServerFiles,
  serverCertificateFacts,
} from '../../../../web/node/index.ts'
import { tell } from '../../output.ts'
import type { PkiSource } from './limit-options.ts'

/** The options that say where certificates are, and what new ones are for. */
interface CertificateOptions {
  readonly pki: PkiSource
  readonly listen: Address
  readonly advertise: Address | undefined
  readonly trustDomain: string | undefined
}

/** Certificates and keys, and the files that they were read from. */
export interface Certificates {
  readonly material: PkiMaterial
  readonly files: PkiFiles
  /** Remarks on them for the operator, one line each. */
  readonly notes: readonly string[]
}

const DEFAULT_TRUST_DOMAIN = 'portcullis.internal'

/**
 * Opens the PKI of the options; creates it in a directory without a PKI. `now` is in milliseconds. Throws `PkiFileError` naming the file
 * that cannot be used.
 */
export async function openCertificates(options: CertificateOptions, now: number): Promise<Certificates> {
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
  return { material, files: pkiFilesIn(pki.directory), notes: [...notes, ...expiryWarnings(material, now)] }
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

/** For a controller that starts: it warns by itself of a certificate for another host. */
function expiryWarnings({ serverCertPem }: Pick<PkiMaterial, 'serverCertPem'>, now: number): readonly string[] {
  const { notAfter } = serverCertificateFacts(serverCertPem)
  if (notAfter > now) return []
  return [`warning: the server certificate expired on ${new Date(notAfter).toISOString().slice(0, 10)}`]
}

/** How often the files are looked at, in ms. Certificates live for weeks; two small files cost nothing to read. */
const FILES_LOOK_MS = 1000

type ServerPart = Pick<PkiMaterial, 'serverCertPem' | 'serverKeyPem'>

type ServerFiles = Pick<PkiFiles, 'serverCertPem' | 'serverKeyPem'>

/** The use of a certificate for TLS. */
export interface CertificateUse {
  /** Its name in messages, such as "server certificate". */
  readonly what: string
  /** Puts a pair in use; answers remarks on it for the operator, one line each. */
  put(renewed: ServerPart): Promise<readonly string[]> | readonly string[]
}

/**
 * Puts a certificate in use whenever its files change, and says so. Unusable files are reported once, and the certificate in use stays. Two
 * looks in a row must see the same content: a renewal writes one file after the other. Answers a function that stops it.
 */
export function followCertificate(files: ServerFiles, inUse: ServerPart, use: CertificateUse): () => void {
  let last = textOf(inUse.serverCertPem, inUse.serverKeyPem)
  let settled = last
  const look = async () => {
    const seen = await read(files)
    const isRenewed = seen === last && seen !== settled
    last = seen
    if (!isRenewed) return
    settled = seen
    await putInUse(files, use)
  }
  const looking = setInterval(() => void look(), FILES_LOOK_MS).unref()
  return () => clearInterval(looking)
}

async function putInUse(files: ServerFiles, { what, put }: CertificateUse): Promise<void> {
  try {
    const warnings = await put(await readServerFiles(files))
    tell(`put the renewed ${what} of ${files.serverCertPem} in use`)
    for (const warning of warnings) tell(warning)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    tell(`the renewed ${what} cannot be used, the one before stays in use: ${reason}`)
  }
}

/** Both files as one text; a file that cannot be read counts as empty, which differs from the content in use. */
async function read({ serverCertPem, serverKeyPem }: ServerFiles): Promise<string> {
  const [cert, key] = await Promise.all(
    [serverCertPem, serverKeyPem].map((file) => readFile(file, 'utf8').catch(() => '')),
  )
  return textOf(cert ?? '', key ?? '')
}

function textOf(cert: string, key: string): string {
  return `${cert}\n${key}`
}
