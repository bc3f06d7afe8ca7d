import { readFile, rename, writeFile } from 'node:fs/promises'
import type { RouterIdentity } from '../../../../network/router/index.ts'
import { UsageError } from '../../command-line/usage.ts'

/** An enrolled router as its file keeps it. */
export interface RouterFile {
  readonly identity: RouterIdentity
  /** `HOST:PORT`; undefined for a router that only dials. */
  readonly listen?: string
  readonly advertise?: string
  readonly linkGroups?: readonly string[]
  readonly dialsLinks?: boolean
}

export const DEFAULT_ROUTER_FILE = 'router.json'
const OWNER_ONLY = 0o600

/** Reads the file of a router. Throws {@link UsageError} where it is none. */
export async function readRouterFile(path: string): Promise<RouterFile> {
  const text = await readFile(path, 'utf8').catch(() => {
    throw new UsageError(`there is no file ${path}: portcullis router enroll writes it, --file names another one`)
  })
  try {
    return checked(JSON.parse(text))
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new UsageError(`${path} is no file of a router: ${why}`, { cause: error })
  }
}

/** Writes the file of a router, whole or not at all, for its owner alone. */
export async function writeRouterFile(path: string, file: RouterFile): Promise<void> {
  const beside = `${path}.${process.pid}.new`
  await writeFile(beside, `${JSON.stringify(file, undefined, 2)}\n`, { mode: OWNER_ONLY })
  await rename(beside, path)
}

function checked(value: unknown): RouterFile {
  const { identity, listen, advertise, linkGroups, dialsLinks } = Object(value)
  const { id, kind, key, clientCert, serverCert, ca, controllers } = Object(identity)
  const texts = { id, key, clientCert, serverCert, ca }
  const missing = Object.entries(texts).find(([, text]) => typeof text !== 'string' || text === '')
  if (missing !== undefined) throw new Error(`identity.${missing[0]} is missing`)
  const addresses = textsIn(controllers, 'identity.controllers')
  if (addresses.length === 0) throw new Error('identity.controllers names nobody')
  return {
    identity: { id, kind: kind === 'transit' ? kind : 'edge', key, clientCert, serverCert, ca, controllers: addresses },
    ...(listen !== undefined && { listen: textIn(listen, 'listen') }),
    ...(advertise !== undefined && { advertise: textIn(advertise, 'advertise') }),
    ...(linkGroups !== undefined && { linkGroups: textsIn(linkGroups, 'linkGroups') }),
    ...(dialsLinks !== undefined && { dialsLinks: dialsLinks === true }),
  }
}

function textIn(value: unknown, name: string): string {
  if (typeof value === 'string') return value
  throw new Error(`${name} is a text`)
}

function textsIn(value: unknown, name: string): readonly string[] {
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value
  throw new Error(`${name} is a list of texts`)
}
