import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Everything that the quickstart writes, below the folder it was started in. */
const DIRECTORY = '.portcullis'

export const PKI_DIRECTORY = join(DIRECTORY, 'pki')
/** Where `portcullis serve` looks by default, so that it can go on with the network of the quickstart. */
export const DATABASE_FILE = join(DIRECTORY, 'portcullis.sqlite')
export const CA_FILE = join(PKI_DIRECTORY, 'ca.pem')
/** The body of the admin's login request, so that `curl -d @FILE` can send it. */
export const ADMIN_FILE = join(DIRECTORY, 'admin.json')

/** Where the certificate chain and the private key of an identity are kept. */
export function deviceFiles(name: string): { readonly certFile: string; readonly keyFile: string } {
  return { certFile: join(DIRECTORY, `${name}.pem`), keyFile: join(DIRECTORY, `${name}.key`) }
}

/** Writes a file that only its owner may read. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  await mkdir(DIRECTORY, { recursive: true, mode: 0o700 })
  await writeFile(path, text, { mode: 0o600 })
}

/** The text of a file, `undefined` when there is none. */
export async function readFileIfAny(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
