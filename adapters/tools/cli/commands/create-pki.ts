import { hostname } from 'node:os'
import { openPkiDirectory } from '../../../web/node/index.ts'
import { type Answer, type CommandCall, defineCommand } from '../command-line/command.ts'
import { UsageError } from '../command-line/usage.ts'

const DEFAULT_DIRECTORY = '.portcullis/pki'

/** The options that name the hosts of certificates. */
export const CERTIFICATE_OPTIONS = {
  host: {
    value: 'HOST',
    repeatable: true,
    summary: 'name or address under which clients reach it, besides this machine; may be repeated',
  },
  'trust-domain': { value: 'NAME', summary: 'SPIFFE trust domain; default portcullis.internal' },
} as const

/** `portcullis pki create`. */
export const PKI_CREATE = defineCommand({
  options: {
    ...CERTIFICATE_OPTIONS,
    pki: { value: 'DIR', variable: true, summary: `folder to make; default ${DEFAULT_DIRECTORY}` },
  },
  hasJson: true,
  details: `Makes the folder of certificates and keys that serve --pki takes, and nothing else: for controllers that share it over one
PostgreSQL. Its ca.key, the key of the root, may be kept elsewhere until pki rotate or pki change asks for it.`,
  examples: ['portcullis pki create --host ctrl.example.org --pki pki'],
  run: createKeys,
})

async function createKeys({ options }: CommandCall<keyof typeof CERTIFICATE_OPTIONS | 'pki'>): Promise<Answer> {
  const directory = options.value('pki') ?? DEFAULT_DIRECTORY
  const hosts = certificateHosts(options.settings('host').map(({ value }) => value))
  if (!(await createPkiIn(directory, { hosts, trustDomain: options.typed('trust-domain') }))) {
    throw new UsageError(`--pki ${directory} has certificates and keys already`)
  }
  return { text: `made ${directory} for ${hosts.join(', ')}`, value: { pki: directory, hosts } }
}

/** The hosts of a server certificate: the named hosts, and the names of this machine. */
export function certificateHosts(named: readonly string[]): readonly string[] {
  const own = [hostname(), 'localhost', '127.0.0.1', '::1'].filter((host) => /^[a-z0-9.:-]+$/i.test(host))
  return [...new Set([...named, ...own])]
}

/** Makes certificates and keys in a folder that has none; false if it has them already. Throws {@link UsageError}. */
export async function createPkiIn(
  directory: string,
  { hosts, trustDomain }: { readonly hosts: readonly string[]; readonly trustDomain: string | undefined },
): Promise<boolean> {
  try {
    const { created } = await openPkiDirectory(directory, { hosts, ...(trustDomain !== undefined && { trustDomain }) })
    return created
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'PkiFileError') throw error
    throw new UsageError(error.message, { cause: error })
  }
}
