import { readFile } from 'node:fs/promises'
import type { Setting } from '../command-line/usage.ts'
import { missingPart } from '../input/address.ts'
import type { Finding } from './examine-certificates.ts'

/** Descriptors that a process needs beside its connections: files, logs, the database, and connections that it makes. */
const OTHER_DESCRIPTORS = 256

/**
 * Finds demands of the options that this Node or the installed packages cannot meet: opening the storage, and holding the connections.
 * Opens and makes nothing.
 */
export async function examineRuntime(storage: Setting, connections: number): Promise<readonly Finding[]> {
  const missing = await missingForStorage(storage)
  const few = await fewDescriptors(connections)
  const found: Finding[] = []
  if (missing !== undefined) found.push({ level: 'wrong', about: 'runtime', text: `${storage.name} ${missing}` })
  if (few !== undefined) found.push({ level: 'warning', about: 'runtime', text: few })
  if (found.length > 0) return found
  return [{ level: 'ok', about: 'runtime', text: `Node ${process.version} can open the storage` }]
}

/** The first OpenSSL whose TLS exchanges keys by X25519MLKEM768 by default. */
const POST_QUANTUM_OPENSSL = { major: 3, minor: 5 }

/**
 * Says by which key exchange a Node with this OpenSSL (`process.versions.openssl`) agrees on the keys of a connection with a peer that
 * supports it as well.
 */
export function keyExchangeFinding(openssl: string): Finding {
  const [major = 0, minor = 0] = openssl.split('.').map(Number)
  const first = POST_QUANTUM_OPENSSL
  if (major > first.major || (major === first.major && minor >= first.minor)) {
    return {
      level: 'ok',
      about: 'runtime',
      text: 'key exchange is post-quantum (X25519MLKEM768) with peers that offer it',
    }
  }
  const text =
    'key exchange is X25519: a recording may be read by a quantum computer later. ' +
    'Node 24.5 and later agree on X25519MLKEM768 with peers that offer it'
  return { level: 'warning', about: 'runtime', text }
}

async function missingForStorage(storage: Setting): Promise<string | undefined> {
  if (storage.value === 'memory') return undefined
  const isSqlite = storage.value.startsWith('sqlite:')
  try {
    await import('../../../storage/kysely/index.ts')
    await (isSqlite ? import('node:sqlite') : import('pg'))
    return undefined
  } catch (error) {
    return `${isSqlite ? 'sqlite' : 'postgres'}: ${missingPart(error) ?? (error instanceof Error ? error.message : error)}`
  }
}

/** Says that the system lets this process open fewer descriptors than its connections need; undefined when it does not. */
export async function fewDescriptors(connections: number): Promise<string | undefined> {
  const limit = await descriptorLimit()
  const needed = connections + OTHER_DESCRIPTORS
  if (limit === undefined || limit >= needed) return undefined
  return (
    `the system lets this process open ${limit} descriptors, and ${connections} connections need ${needed}: ` +
    'raise the limit (LimitNOFILE of systemd, ulimit -n), or lower connections of --limits'
  )
}

/** The number of descriptors that this process may open; undefined where the system does not report it. */
export async function descriptorLimit(): Promise<number | undefined> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  const [, soft] = /^Max open files\s+(\d+)/m.exec(limits) ?? []
  return soft === undefined ? undefined : Number(soft)
}
