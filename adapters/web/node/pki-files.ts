import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { checkOptions, type OptionRules } from '../../../src/base/arguments.ts'
import type { PkiMaterial } from '../../../src/index.ts'

/** The path of the PEM file of each part of a network's PKI. */
export type PkiFiles = { readonly [Part in keyof PkiMaterial]: string }

const FILE = { shape: 'string', isNeeded: true, hint: 'the name of a PEM file' } as const
const SERVER_FILES = { serverCertPem: FILE, serverKeyPem: FILE }
const ALL_FILES: OptionRules<PkiFiles> = {
  caKeyPem: 'string',
  caPem: FILE,
  signingCertPem: FILE,
  signingKeyPem: FILE,
  ...SERVER_FILES,
}
const OTHER_FILES = { caKeyPem: 'string', caPem: 'string', signingCertPem: 'string', signingKeyPem: 'string' } as const

/** A file or directory of a PKI that cannot be used as it is; the message names it and fits on one line. */
export class PkiFileError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'PkiFileError'
  }
}

/**
 * The certificates and keys that stand in files: every certificate file begins with a certificate, and each key belongs to its certificate.
 * The key of the root is read where its file is there. Whether the certificates trust each other is for the controller to judge.
 *
 * @example
 * const pki = await readPkiFiles({ ...pkiFilesIn('pki'), caPem: '/etc/ssl/network-ca.pem' })
 * const controller = await createController({ storage, address: 'localhost:1280', pki })
 * @throws PkiFileError for a file that cannot be read, has other content, or does not match its pair.
 */
export async function readPkiFiles(files: PkiFiles): Promise<PkiMaterial> {
  checkOptions('readPkiFiles', files, ALL_FILES)
  const caKeyPem = files.caKeyPem !== undefined && existsSync(files.caKeyPem) && (await readPem(files.caKeyPem))
  const material = {
    ...(caKeyPem && { caKeyPem }),
    caPem: await readPem(files.caPem),
    signingCertPem: await readPem(files.signingCertPem),
    signingKeyPem: await readPem(files.signingKeyPem),
  }
  readCertificate(files.caPem, material.caPem)
  if (files.caKeyPem !== undefined && caKeyPem) checkRootKey(files.caPem, material.caPem, files.caKeyPem, caKeyPem)
  checkPair(files.signingCertPem, material.signingCertPem, files.signingKeyPem, material.signingKeyPem)
  return { ...material, ...(await readServerFiles(files)) }
}

/**
 * The TLS server certificate and its key, from their files.
 *
 * @example
 * const { serverCertPem, serverKeyPem } = await readServerFiles(pkiFilesIn('pki'))
 * await controller.replaceServerCertificate({ serverCertPem, serverKeyPem })
 * @throws PkiFileError for a file that cannot be read, or two that cannot serve TLS together.
 */
export async function readServerFiles(
  files: Pick<PkiFiles, 'serverCertPem' | 'serverKeyPem'>,
): Promise<Pick<PkiMaterial, 'serverCertPem' | 'serverKeyPem'>> {
  // The files of a whole PKI may be given too.
  checkOptions('readServerFiles', files, { ...OTHER_FILES, ...SERVER_FILES })
  const [cert, key] = [await readPem(files.serverCertPem), await readPem(files.serverKeyPem)]
  checkPair(files.serverCertPem, cert, files.serverKeyPem, key)
  attempt(
    (reason) => `${files.serverCertPem} cannot serve TLS: ${reason}`,
    () => createSecureContext({ cert, key }),
  )
  return { serverCertPem: cert, serverKeyPem: key }
}

async function readPem(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new PkiFileError(`cannot read ${file}: ${reasonOf(error)}`, { cause: error })
  }
}

function readCertificate(file: string, pem: string): X509Certificate {
  return attempt(
    () => `${file} holds no PEM certificate`,
    () => new X509Certificate(pem),
  )
}

function readKey(keyFile: string, keyPem: string): KeyObject {
  // OpenSSL's own words about a broken key are left out: no part of a key file may reach a log.
  return attempt(
    () => `${keyFile} holds no PEM private key that opens without a passphrase`,
    () => createPrivateKey(keyPem),
  )
}

/** The bundle may hold several roots. */
function checkRootKey(bundleFile: string, bundlePem: string, keyFile: string, keyPem: string): void {
  const key = readKey(keyFile, keyPem)
  const blocks = bundlePem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  if (blocks.some((block) => readCertificate(bundleFile, block).checkPrivateKey(key))) return
  throw new PkiFileError(`the private key in ${keyFile} matches no certificate in ${bundleFile}`)
}

function checkPair(certificateFile: string, certificatePem: string, keyFile: string, keyPem: string): void {
  const certificate = readCertificate(certificateFile, certificatePem)
  if (!certificate.checkPrivateKey(readKey(keyFile, keyPem))) {
    throw new PkiFileError(`the private key in ${keyFile} does not match the certificate in ${certificateFile}`)
  }
}

function attempt<T>(explain: (reason: string) => string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new PkiFileError(explain(reasonOf(error)), { cause: error })
  }
}

/** Reads the code of a system error, such as `ENOENT`; undefined for an error that is not the system's. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** The reason of a failure, for people: the system's errors in words, without the path, which the caller names itself. */
export function reasonOf(error: unknown): string {
  const code = errorCode(error)
  const words = code === undefined ? undefined : REASONS.get(code)
  return words ?? (error instanceof Error ? error.message : String(error))
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
  ['ENOENT', 'there is no such file or directory'],
  ['EISDIR', 'it is a directory'],
  ['ENOTDIR', 'it, or a part of its path, is not a directory'],
  ['EROFS', 'the file system is read-only'],
  ['ENOSPC', 'the disk is full'],
])
