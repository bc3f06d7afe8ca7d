import { hkdfSync } from 'node:crypto'
import { type Controller, createController, type PkiMaterial, type Storage } from '../../src/index.ts'
import { formatAddress, PkiFileError, type PkiFiles, type RunningServer, serve } from '../node/index.ts'
import { ADMIN_PASSWORD, ADMIN_USERNAME } from './admin.ts'
import { openCertificates } from './certificates.ts'
import type { ServeOptions } from './options.ts'
import { openStorage } from './storage.ts'
import { UsageError } from './usage-error.ts'

/** A controller that answers over HTTPS. */
export interface ServedController {
  /** The line that tells programs and people that it does. */
  readonly readyLine: string
  /** What the operator should know, one line each. */
  readonly notes: readonly string[]
  /** Lets requests in flight finish, then closes the storage. */
  close(): Promise<void>
}

const NO_ADMIN = `there is no admin: ${ADMIN_USERNAME} and ${ADMIN_PASSWORD} in the environment create one`

/**
 * Starts a controller as the options say and resolves when it answers. Throws `UsageError` or `PkiFileError` when the
 * options name what cannot be used: a taken port, an unreadable file, a key of another certificate.
 */
export async function serveController(options: ServeOptions): Promise<ServedController> {
  const { storage, name } = await openStorage(options.storage)
  try {
    return await serveStorage(options, storage, name)
  } catch (error) {
    await storage.close()
    throw error
  }
}

async function serveStorage(options: ServeOptions, storage: Storage, storageName: string): Promise<ServedController> {
  const { material, files, notes } = await openCertificates(options, Date.now())

  // Enrollment tokens name the port, which only listening tells when the system chooses it: the server starts first, and a
  // request that is early waits for the controller. It cannot come before the line that builds it: that runs in the same
  // turn of the event loop.
  const server = await bind(options, material, (...request) => building.then((built) => built.fetch(...request)))
  const address = formatAddress(options.advertise ?? { host: options.listen.host, port: server.port })
  const building = build(options, { storage, material, files, address })
  try {
    const controller = await building
    return {
      readyLine: `portcullis ready at ${server.url}, advertised as ${address}, storage ${storageName}`,
      notes: controller.hasAdmin ? notes : [...notes, NO_ADMIN],
      close: async () => {
        await server.close()
        await controller.close()
      },
    }
  } catch (error) {
    await server.close({ graceMs: 0 })
    throw error
  }
}

async function bind(
  { listen: { host, port } }: ServeOptions,
  { serverCertPem, serverKeyPem }: PkiMaterial,
  fetch: Controller['fetch'],
): Promise<RunningServer> {
  try {
    return await serve({ fetch, tls: () => ({ cert: serverCertPem, key: serverKeyPem }) }, { host, port })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new UsageError(`cannot listen on --listen ${formatAddress({ host, port })}: ${reason}`, { cause: error })
  }
}

interface Parts {
  readonly storage: Storage
  readonly material: PkiMaterial
  readonly files: PkiFiles
  readonly address: string
}

async function build({ admin, trustDomain, compat }: ServeOptions, parts: Parts): Promise<Controller> {
  const { storage, material, files, address } = parts
  try {
    return await createController({
      storage,
      address,
      pki: material,
      secretsKey: secretsKeyOf(material),
      ...(admin === undefined ? {} : { admin }),
      ...(trustDomain === undefined ? {} : { trustDomain }),
      ...(compat === undefined ? {} : { compat }),
    })
  } catch (error) {
    throw naming(files, error)
  }
}

/** The controller names the part of the PKI that it cannot use; the operator knows the part by its file. */
function naming(files: PkiFiles, error: unknown): unknown {
  const [, part, problem] = (error instanceof Error ? /^(\w+Pem): (.*)/s.exec(error.message) : undefined) ?? []
  const file = new Map(Object.entries(files)).get(part ?? '')
  return file === undefined ? error : new PkiFileError(`${file}: ${problem}`, { cause: error })
}

/**
 * The key that seals MFA secrets in the storage. It follows from the signing key, so that a restart and every process over
 * the same storage and certificates have the same one, and no further secret needs to be kept.
 */
function secretsKeyOf({ signingKeyPem }: PkiMaterial): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', signingKeyPem.trim(), '', 'portcullis secrets at rest', 32))
}
