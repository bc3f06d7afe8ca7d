import { randomUUID } from 'node:crypto'
import { link, mkdir, readdir, rename, rm, rmdir, unlink, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { checkArgument, checkOptions, type OptionRules } from '../../../src/base/arguments.ts'
import { createPkiMaterial, type PkiMaterial } from '../../../src/index.ts'
import { synced } from '../../network/enrollment/index.ts'
import { errorCode, PkiFileError, type PkiFiles, readPkiFiles, reasonOf } from './pki-files.ts'

/** The hosts and names that a PKI is created for when the directory has none; an existing PKI stays as it is. */
export interface PkiDirectoryRequest {
  /**
   * DNS names and IP addresses under which clients reach the controller, beside the host of its `address` where
   * `createController` opens the directory. Default: the name of this machine, `localhost`, `127.0.0.1` and `::1`.
   */
  readonly hosts?: readonly string[]
  /** SPIFFE trust domain of the network: lower-case letters, digits, dots, hyphens and underscores. Default: `portcullis.internal`. */
  readonly trustDomain?: string
  /** Milliseconds since the Unix epoch. Default: now. */
  readonly now?: number
  /** The TLS server's key. Default: `RSA-2048`, whose enrollment tokens every OpenZiti SDK can verify. */
  readonly serverKey?: 'P-256' | 'RSA-2048'
}

/** The PKI of a directory; `created` tells whether it was made just now. */
export interface PkiDirectory extends PkiMaterial {
  readonly created: boolean
}

/** A PKI directory that is opened by the first `await`, or by the controller that gets it. */
export interface PkiDirectoryOpening extends Promise<PkiDirectory> {
  /** Opens it for a controller that clients reach at `host`: a certificate that is made now is for that host too. */
  openFor(host: string): Promise<PkiDirectory>
}

/**
 * Opens the PKI of a directory: `ca.pem`, `signing.pem`, `signing.key`, `server.pem`, `server.key`, and `ca.key`, which may be kept
 * elsewhere until an authority changes. A missing PKI is created with its directory, readable for the owner alone; `created` is true then.
 * Creation is all or nothing: a process that ends in the middle leaves what the next one completes or starts over, and of several processes
 * one creates.
 *
 * Nothing is done before the first `await`. Given to `createController` as it is, without `await`, the server certificate is made for the
 * host of its `address` as well.
 * @throws PkiFileError naming the file that is missing, cannot be read or written, or does not match its pair.
 *
 * @example
 * const controller = await createController({ storage, address: 'localhost:1280', pki: openPkiDirectory('pki') })
 */
export function openPkiDirectory(directory: string, request: PkiDirectoryRequest = {}): PkiDirectoryOpening {
  let opened: Promise<PkiDirectory> | undefined
  const awaited = () => {
    opened ??= open(directory, request)
    return opened
  }
  return {
    // biome-ignore lint/suspicious/noThenProperty: it is a promise whose work begins with the first who waits for it.
    then: (...handlers) => awaited().then(...handlers),
    catch: (handler) => awaited().catch(handler),
    finally: (handler) => awaited().finally(handler),
    [Symbol.toStringTag]: 'Promise',
    openFor: (host) =>
      open(directory, {
        ...request,
        hosts: [...new Set([...(request.hosts ?? []), host, ...(request.hosts ?? ownHosts())])],
      }),
  }
}

async function open(directory: string, request: PkiDirectoryRequest): Promise<PkiDirectory> {
  checkArgument('openPkiDirectory', 'directory', directory, {
    shape: 'string',
    isNeeded: true,
    hint: 'the name of a folder',
  })
  checkOptions('openPkiDirectory', request, RULES)
  const { hosts = ownHosts(), trustDomain = DEFAULT_TRUST_DOMAIN, now = Date.now() } = request
  const created = await ensurePki(directory, { ...request, hosts, trustDomain, now })
  const material = await readPkiFiles(pkiFilesIn(directory))
  // When two processes create at the same time, the PKI of one is put aside.
  return { ...material, created: material.serverKeyPem === created?.serverKeyPem }
}

const RULES: OptionRules<PkiDirectoryRequest> = {
  hosts: 'array',
  trustDomain: 'string',
  now: 'number',
  serverKey: { oneOf: ['P-256', 'RSA-2048'] },
}

/** A machine may have a name that no certificate can hold. */
function ownHosts(): readonly string[] {
  const hosts = [hostname(), 'localhost', '127.0.0.1', '::1']
  return [...new Set(hosts)].filter((host) => /^[a-z0-9.:-]+$/i.test(host))
}

const DEFAULT_TRUST_DOMAIN = 'portcullis.internal'

/**
 * Where the parts of a directory's PKI stand.
 *
 * @example
 * const pki = await readPkiFiles(pkiFilesIn('pki'))
 */
export function pkiFilesIn(directory: string): PkiFiles {
  checkArgument('pkiFilesIn', 'directory', directory, { shape: 'string', isNeeded: true })
  return {
    caKeyPem: join(directory, PKI_FILE_NAMES.caKeyPem),
    caPem: join(directory, PKI_FILE_NAMES.caPem),
    signingCertPem: join(directory, PKI_FILE_NAMES.signingCertPem),
    signingKeyPem: join(directory, PKI_FILE_NAMES.signingKeyPem),
    serverCertPem: join(directory, PKI_FILE_NAMES.serverCertPem),
    serverKeyPem: join(directory, PKI_FILE_NAMES.serverKeyPem),
  }
}

/**
 * File names of a PKI directory, in the order in which they are put in place: that of the root's key, which may be missing
 * afterwards, comes first, so that it is there when all others are.
 */
const PKI_FILE_NAMES = {
  caKeyPem: 'ca.key',
  caPem: 'ca.pem',
  signingCertPem: 'signing.pem',
  signingKeyPem: 'signing.key',
  serverCertPem: 'server.pem',
  serverKeyPem: 'server.key',
} as const satisfies Required<Record<keyof PkiMaterial, string>>

/**
 * The directory inside a PKI directory that holds a new PKI from the moment when it is whole until its last file stands
 * in place. A process that finds it moves the rest.
 */
const CREATED = '.created'

const UNFINISHED_PREFIX = '.creating-'

/** The files without which there is no PKI. */
const NEEDED_NAMES = Object.values(PKI_FILE_NAMES).filter((name) => name !== PKI_FILE_NAMES.caKeyPem)

/** Resolves once the PKI is whole, with what this process created for it, if anything. */
async function ensurePki(
  directory: string,
  request: Required<Omit<PkiDirectoryRequest, 'serverKey'>>,
): Promise<PkiMaterial | undefined> {
  let created: PkiMaterial | undefined
  await named(directory, () => makeDirectory(directory))
  for (;;) {
    const present = await named(directory, () => readdir(directory))
    const missing = NEEDED_NAMES.filter((name) => !present.includes(name))
    if (missing.length === 0) {
      const leftovers = present.filter((name) => name === CREATED || isUnfinished(name))
      await named(directory, () => Promise.all(leftovers.map((name) => clearAway(join(directory, name)))))
      return created
    }
    if (present.includes(CREATED)) {
      await named(directory, () => moveIntoPlace(directory))
    } else if (missing.length === NEEDED_NAMES.length) {
      const material = await createPkiMaterial({ serverKey: 'RSA-2048', ...request })
      if (await named(directory, () => storeNew(directory, material))) created = material
    } else {
      throw new PkiFileError(`${directory} holds only a part of a PKI: ${missing.join(', ')} missing`)
    }
  }
}

/** A process that is writing there puts files back while they are removed: it clears them away itself when it sees. */
async function clearAway(leftover: string): Promise<void> {
  await tolerating('ENOTEMPTY', () => rm(leftover, { recursive: true, force: true }))
}

/**
 * Makes a directory and those above it that are missing, unless it is there. Node's own recursive mkdir never ends where
 * the system refuses to make directories as if their parent were missing, as in /proc.
 */
async function makeDirectory(directory: string): Promise<void> {
  const make = () => mkdir(directory, { mode: 0o700 })
  try {
    await make().catch(async (error: unknown) => {
      if (errorCode(error) !== 'ENOENT' || dirname(directory) === directory) throw error
      await makeDirectory(dirname(directory))
      await make()
    })
    await synced(dirname(directory))
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
  }
}

/** Names the directory in its errors. */
async function named<T>(directory: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw new PkiFileError(`cannot use the PKI directory ${directory}: ${reasonOf(error)}`, { cause: error })
  }
}

/** Whether a name is that of a directory in which a new PKI is being written. */
function isUnfinished(name: string): boolean {
  return name.startsWith(UNFINISHED_PREFIX)
}

/**
 * Stores a new PKI as {@link CREATED}, whole or not at all. Answers false when another process was faster.
 * It is written inside the directory, not beside it: the directory may be a mounted volume, which no rename can replace.
 */
async function storeNew(directory: string, material: Required<PkiMaterial>): Promise<boolean> {
  const unfinished = join(directory, UNFINISHED_PREFIX + randomUUID())
  try {
    await mkdir(unfinished, { mode: 0o700 })
    for (const [part, name] of partsAndNames()) {
      const mode = name.endsWith('.key') ? 0o600 : 0o644
      // Flushed, so that a file whose name survives a power failure has its content too.
      await writeFile(join(unfinished, name), material[part], { mode, flag: 'wx', flush: true })
    }
    await synced(unfinished)
    await rename(unfinished, join(directory, CREATED))
    await synced(directory)
    return true
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    // Another process has put its PKI there, or has finished and cleared this directory away.
    if (['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(errorCode(error) ?? '')) return false
    throw error
  }
}

/** Moves the files of {@link CREATED} to their places; another process may be doing the same. */
async function moveIntoPlace(directory: string): Promise<void> {
  for (const [, name] of partsAndNames()) {
    await tolerating('ENOENT', () => place(join(directory, CREATED, name), join(directory, name)))
  }
  await synced(directory)
  // Not empty when a third process has put a PKI there in this moment: it is put aside, for this one is in place.
  await tolerating('ENOENT', () => tolerating('ENOTEMPTY', () => rmdir(join(directory, CREATED))))
}

/**
 * Moves a file to its place, unless a file is there. The process may have slept since it looked: the PKI that it saw may be in place by
 * now, and another PKI, which is to be put aside, where that was. A rename would mix the two.
 */
async function place(from: string, to: string): Promise<void> {
  try {
    await tolerating('EEXIST', () => link(from, to))
  } catch (error) {
    if (!NO_LINKS.includes(errorCode(error) ?? '')) throw error
    return rename(from, to)
  }
  await unlink(from)
}

/** Errors of file systems without hard links: there, processes that begin in the same moment may still mix two PKIs. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'ENOSYS', 'EOPNOTSUPP', 'EMLINK']

/** Runs work that may fail with one code. */
async function tolerating(code: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (errorCode(error) !== code) throw error
  }
}

function partsAndNames() {
  // Object.entries forgets the keys' types; the object above is the constant right here.
  return Object.entries(PKI_FILE_NAMES) as [keyof PkiMaterial, string][]
}
