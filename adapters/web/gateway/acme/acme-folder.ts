import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { synced, writeDurably } from '../../../network/enrollment/index.ts'

/** A key with its certificate and the intermediates, as one PEM text, and the instants between which it is valid, in epoch ms. */
export interface KeptPair {
  readonly pem: string
  readonly notBefore: number
  readonly notAfter: number
}

/** The order of a host without a certificate, or with an old certificate. */
export interface KeptOrder {
  /** The order that is under way, and the key that its certificate is for. */
  readonly begun?: { readonly url: string; readonly key: string }
  /** Failures since the last certificate. */
  readonly failures: number
  /** No order before this instant, epoch ms. */
  readonly retryAt: number
}

export const NO_ORDER: KeptOrder = { failures: 0, retryAt: 0 }

/**
 * The files of one ACME server: `account.key`, `HOST.pem` and `HOST.order.json`. A key and its certificates are one file, so that a pair is
 * never half of another pair. Each file is on the disk, for its owner alone, before its content is used.
 */
export class AcmeFolder {
  readonly #path: string

  private constructor(path: string) {
    this.#path = path
  }

  /** Opens the files below a folder, which is made where it is absent. Servers share neither accounts nor certificates. */
  static async open(folder: string, directory: string): Promise<AcmeFolder> {
    const { host, pathname } = new URL(directory)
    const path = join(folder, `${host}${pathname}`.replaceAll(/[^a-z0-9.-]+/gi, '_'))
    await mkdir(path, { recursive: true, mode: 0o700 })
    await synced(dirname(path))
    return new AcmeFolder(path)
  }

  /** The key of the account, made at the first use. */
  async accountKey(make: () => Promise<string>): Promise<string> {
    const file = join(this.#path, 'account.key')
    const kept = await textOf(file)
    if (kept !== undefined) return kept
    const made = await make()
    await writeDurably(file, made)
    return made
  }

  /** The hosts that have a pair, also of an earlier process. */
  async hosts(): Promise<readonly string[]> {
    const files = await readdir(this.#path)
    return files.filter((file) => file.endsWith(PAIR)).map((file) => file.slice(0, -PAIR.length))
  }

  /** The pair of a host; undefined where it is absent. Rejects where the file holds no pair for this host. */
  async pair(host: string): Promise<KeptPair | undefined> {
    const pem = await textOf(join(this.#path, `${host}${PAIR}`))
    return pem === undefined ? undefined : readPair(host, pem)
  }

  /** Keeps the pair of a host. Rejects without a change where it is no pair for this host. */
  async keepPair(host: string, pem: string): Promise<KeptPair> {
    const pair = readPair(host, pem)
    await writeDurably(join(this.#path, `${host}${PAIR}`), pem)
    return pair
  }

  /** Removes what is kept of a host. */
  async drop(host: string): Promise<void> {
    for (const kind of [PAIR, ORDER]) await rm(join(this.#path, `${host}${kind}`), { force: true })
  }

  /** The order of a host. A file that cannot be read is no order: another one is made. */
  async order(host: string): Promise<KeptOrder> {
    const text = await textOf(join(this.#path, `${host}${ORDER}`))
    return (text === undefined ? undefined : readOrder(text)) ?? NO_ORDER
  }

  async keepOrder(host: string, order: KeptOrder): Promise<void> {
    const file = join(this.#path, `${host}${ORDER}`)
    if (order.begun === undefined && order.failures === 0) await rm(file, { force: true })
    else await writeDurably(file, `${JSON.stringify(order)}\n`)
  }
}

const PAIR = '.pem'
const ORDER = '.order.json'

function readPair(host: string, pem: string): KeptPair {
  const certificate = new X509Certificate(pem)
  if (!certificate.checkPrivateKey(createPrivateKey(pem))) throw new TypeError('the certificate is for another key')
  if (certificate.checkHost(host) === undefined) throw new TypeError(`the certificate is not for ${host}`)
  return { pem, notBefore: Date.parse(certificate.validFrom), notAfter: Date.parse(certificate.validTo) }
}

function readOrder(text: string): KeptOrder | undefined {
  try {
    const { begun, failures, retryAt } = JSON.parse(text)
    if (!Number.isSafeInteger(failures) || !Number.isFinite(retryAt)) return undefined
    const isBegun = typeof begun?.url === 'string' && typeof begun?.key === 'string'
    return { failures, retryAt, ...(isBegun && { begun: { url: begun.url, key: begun.key } }) }
  } catch {
    return undefined
  }
}

/** Undefined for an absent file. */
async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (Reflect.get(Object(error), 'code') === 'ENOENT') return undefined
    throw error
  }
}
