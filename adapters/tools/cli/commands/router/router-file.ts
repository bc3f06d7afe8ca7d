import { readFile } from 'node:fs/promises'
import { writeDurably } from '../../../../network/enrollment/index.ts'
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

/** Reads the file of a router. Throws {@link UsageError} when the file is absent or invalid. */
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

/** Writes the file of a router, whole or not at all, for its owner alone; it is on the disk when the promise resolves. */
export async function writeRouterFile(path: string, file: RouterFile): Promise<void> {
  await writeDurably(path, `${JSON.stringify(file, undefined, 2)}\n`)
}

function checked(value: unknown): RouterFile {
  const { identity, listen, advertise, linkGroups, dialsLinks } = Object(value)
  const { id, kind, key, clientCert, serverCert, ca, controllers, pending } = Object(identity)
  refuseMissing('identity', { id, key, clientCert, serverCert, ca })
  const addresses = textsIn(controllers, 'identity.controllers')
  if (addresses.length === 0) throw new Error('identity.controllers names nobody')
  return {
    identity: {
      id,
      kind: kind === 'transit' ? kind : 'edge',
      key,
      clientCert,
      serverCert,
      ca,
      controllers: addresses,
      ...pendingIn(pending),
    },
    ...(listen !== undefined && { listen: textIn(listen, 'listen') }),
    ...(advertise !== undefined && { advertise: textIn(advertise, 'advertise') }),
    ...(linkGroups !== undefined && { linkGroups: textsIn(linkGroups, 'linkGroups') }),
    ...(dialsLinks !== undefined && { dialsLinks: dialsLinks === true }),
  }
}

/** Certificates that were issued and not confirmed. */
function pendingIn(value: unknown): Pick<RouterIdentity, 'pending'> {
  if (value === undefined) return {}
  if (!Array.isArray(value)) throw new Error('identity.pending is a list')
  const pending = value.map((pair: unknown) => {
    const { key, clientCert, serverCert } = Object(pair)
    refuseMissing('identity.pending', { key, clientCert, serverCert })
    return { key, clientCert, serverCert }
  })
  return { pending }
}

function refuseMissing(owner: string, texts: Readonly<Record<string, unknown>>): void {
  const missing = Object.entries(texts).find(([, text]) => typeof text !== 'string' || text === '')
  if (missing !== undefined) throw new Error(`${owner}.${missing[0]} is missing`)
}

function textIn(value: unknown, name: string): string {
  if (typeof value === 'string') return value
  throw new Error(`${name} is a text`)
}

function textsIn(value: unknown, name: string): readonly string[] {
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value
  throw new Error(`${name} is a list of texts`)
}
