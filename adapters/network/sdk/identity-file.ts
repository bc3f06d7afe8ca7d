import { constants, readFileSync } from 'node:fs'
import { access, readFile, realpath, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeDurably } from '../enrollment/durable-file.ts'
import { ConnectionFailure } from './connection-failure.ts'

/**
 * An identity after it enrolled, in the form that programs of the field write and read: PEM behind `pem:`, or the path of a file
 * behind `file://`.
 */
export interface IdentityFile {
  /** The controller, `https://HOST:PORT`, or with the path of its client API. */
  readonly ztAPI: string
  /** Every controller of the network, where there are several. */
  readonly ztAPIs?: readonly string[] | null
  readonly id: {
    readonly cert: string
    readonly key: string
    readonly ca?: string
    /** As {@link EnrolledDevice.pending}. */
    readonly pending?: { readonly cert: string; readonly key: string }
  }
  readonly [member: string]: unknown
}

/** A key and its certificate, followed by intermediates; both PEM. */
export interface CertifiedKey {
  readonly key: string
  readonly cert: string
}

/** An identity that enrolled: its key and certificates, all PEM, and the address of its controller. Only its owner may read it. */
export interface EnrolledDevice extends CertifiedKey {
  /** `https://HOST:PORT`. */
  readonly controller: string
  /** Every controller of the network, where there are several. */
  readonly controllers?: readonly string[]
  /** The authorities of the network, which it trusts; empty for the authorities of Node. */
  readonly ca: string
  /**
   * A renewed key and certificate that no controller has confirmed yet: the controller takes this pair or the pair above, and {@link
   * openIdentity} finds out. It is kept with the identity.
   */
  readonly pending?: CertifiedKey
}

/** The key and certificates of an identity, and the CAs that it trusts; all PEM. */
export interface Credentials {
  readonly cert: string
  readonly key: string
  /** The authorities of the network; undefined for the authorities of Node. */
  readonly ca: string | undefined
}

/** An identity in use: its controllers, `https://HOST:PORT` each, and its credentials. */
export interface OpenedFile {
  readonly controllers: readonly string[]
  readonly credentials: Credentials
  /** A renewed pair that was not confirmed when the identity was kept. */
  readonly pending: CertifiedKey | undefined
}

/** The file form of an identity that enrolled. */
export function identityFileOf(device: EnrolledDevice): IdentityFile {
  const { controller, controllers = [controller], ca, pending } = device
  const [ztAPI = '', ...others] = controllers.map((origin) => `${origin}/edge/client/v1`)
  const inFile = ({ cert, key }: CertifiedKey) => ({ cert: `pem:${cert}`, key: `pem:${key}` })
  const id = { ...inFile(device), ...(ca !== '' && { ca: `pem:${ca}` }), ...(pending && { pending: inFile(pending) }) }
  return { ztAPI, ztAPIs: [ztAPI, ...others], id }
}

/**
 * Writes an identity to a file for its owner alone, in the form that other programs of the field read. The file is whole at every moment,
 * even if the machine loses its power: it holds the former identity or the new one. The new identity is on the disk when the promise
 * resolves. Rejects with the error of the file system.
 *
 * @example
 * await writeIdentity('laptop.json', await enrollDevice({ jwt: token }))
 * await using laptop = await openIdentity('laptop.json', { keep: (device) => writeIdentity('laptop.json', device) })
 */
export async function writeIdentity(path: string, identity: EnrolledDevice | IdentityFile): Promise<void> {
  const file = isEnrolled(identity) ? identityFileOf(identity) : identity
  await writeDurably(path, `${JSON.stringify(file, undefined, 2)}\n`)
}

/**
 * Reads an identity: the path of its file, the content of the file, or the result of an enrollment. Rejects with a `TypeError` that names
 * the problem.
 */
export async function readIdentity(identity: string | IdentityFile | EnrolledDevice): Promise<OpenedFile> {
  const isPath = typeof identity === 'string'
  const read = isPath ? await parsedFile(identity) : identity
  const file = isEnrolled(read) ? identityFileOf(read) : read
  const folder = isPath ? dirname(resolve(identity)) : process.cwd()
  if (typeof file !== 'object' || file === null || typeof file.id !== 'object' || typeof file.ztAPI !== 'string') {
    throw new TypeError(
      `${isPath ? identity : 'what openIdentity was given'} is no identity: it has no ztAPI, or no id with cert and key; enroll() and enrollDevice() answer one`,
    )
  }
  const { cert, key, ca, pending } = file.id
  const urls = file.ztAPIs?.length ? file.ztAPIs : [file.ztAPI]
  return {
    controllers: [...new Set(urls.map(originOf))],
    credentials: {
      cert: await pemOf('id.cert', cert, folder),
      key: await pemOf('id.key', key, folder),
      ca: ca === undefined || ca === '' ? undefined : await pemOf('id.ca', ca, folder),
    },
    pending: pending && {
      cert: await pemOf('id.pending.cert', pending.cert, folder),
      key: await pemOf('id.pending.key', pending.key, folder),
    },
  }
}

/** Keeps an identity in the file from which it was opened. */
export interface KeptInFile {
  keep(device: EnrolledDevice): Promise<void>
  /** The pair in the file; it differs from the held pair if another program renewed it. Undefined if it cannot be read. */
  reread(): CertifiedKey | undefined
}

/**
 * Keeps renewals in the file of an identity, if this program may: it owns the file, and the file contains key and certificate. Undefined
 * otherwise.
 */
export async function keptInFile(path: string): Promise<KeptInFile | undefined> {
  const facts = await stat(path)
  if (process.getuid !== undefined && facts.uid !== process.getuid()) return undefined
  const target = await realpath(path)
  const mayWrite = [target, dirname(target)].map((place) => access(place, constants.W_OK))
  if ((await Promise.allSettled(mayWrite)).some(({ status }) => status === 'rejected')) return undefined
  if (pairIn(await parsedFile(path)) === undefined) return undefined
  return {
    keep: async (device) => {
      const known = await parsedFile(path)
      if (isEnrolled(known)) {
        const { pending: _, ...others } = known
        return writeDurably(path, `${JSON.stringify({ ...others, ...device }, undefined, 2)}\n`)
      }
      // The members of other programs of the field stay.
      const { pending: _, ...others } = known.id
      await writeIdentity(path, { ...known, id: { ...others, ...identityFileOf(device).id } })
    },
    reread: () => {
      try {
        return pairIn(JSON.parse(readFileSync(path, 'utf8')))
      } catch {
        return undefined
      }
    },
  }
}

/** The key and certificate in a file, PEM; undefined if the file names other files for them. */
function pairIn(file: IdentityFile | EnrolledDevice): CertifiedKey | undefined {
  const { key, cert } = isEnrolled(file) ? file : Object(file.id)
  const [inKey, inCert] = [key, cert].map((value) => String(value).replace(/^pem:/, ''))
  if (!inKey?.startsWith('-----BEGIN ') || !inCert?.startsWith('-----BEGIN ')) return undefined
  return { key: inKey, cert: inCert }
}

/** Whether an identity is the result of an enrollment, not the form of files. */
function isEnrolled(identity: IdentityFile | EnrolledDevice): identity is EnrolledDevice {
  return typeof identity === 'object' && identity !== null && typeof identity.controller === 'string'
}

/** Explains how to create an identity file, for a caller that names a missing file. */
const FILE_MAKERS =
  "write what enroll() or enrollDevice() of 'portcullis/sdk' answers to it as JSON, or run: portcullis tunnel enroll TOKEN-FILE"

async function parsedFile(path: string): Promise<IdentityFile | EnrolledDevice> {
  const text = await readFile(path, 'utf8').catch((cause) => {
    if (cause?.code !== 'ENOENT') throw cause
    throw new TypeError(`there is no identity file ${path}: ${FILE_MAKERS}`, { cause })
  })
  try {
    return JSON.parse(text)
  } catch (cause) {
    const isToken = /^\s*[\w-]+\.[\w-]+\.[\w-]+\s*$/.test(text)
    const why = isToken
      ? `it holds an enrollment token: enroll with it first, by enroll() of 'portcullis/sdk' or portcullis tunnel enroll ${path}`
      : 'it holds no JSON'
    throw new TypeError(`${path} is no identity: ${why}`, { cause })
  }
}

function originOf(url: string): string {
  if (!URL.canParse(url)) throw new TypeError(`the identity names '${url}' as its controller, which is no URL`)
  const { protocol, origin } = new URL(url)
  if (protocol !== 'https:') throw new ConnectionFailure('CONTROLLER_UNREACHABLE', `${url} is not https`)
  return origin
}

async function pemOf(name: string, value: unknown, folder: string): Promise<string> {
  if (typeof value !== 'string') throw new TypeError(`the identity lacks ${name}`)
  const pem = value.startsWith('pem:')
    ? value.slice('pem:'.length)
    : value.startsWith('file:')
      ? await readFile(pathIn(value, folder), 'utf8')
      : value
  // Other schemes name keys in hardware, which need a native library.
  if (!pem.includes('-----BEGIN ')) throw new TypeError(`${name} of the identity is neither pem: nor file://`)
  return pem
}

function pathIn(url: string, folder: string): string {
  return url.startsWith('file:///') ? fileURLToPath(url) : resolve(folder, url.replace(/^file:(\/\/)?/, ''))
}
