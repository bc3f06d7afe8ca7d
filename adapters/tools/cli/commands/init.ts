import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { hostname } from 'node:os'
import { relative } from 'node:path'
import { ControllerError, openOperator } from '../../../../src/index.ts'
import { openPkiDirectory } from '../../../web/node/index.ts'
import { type Answer, type CommandCall, defineCommand } from '../command-line/command.ts'
import { UsageError } from '../command-line/usage.ts'
import { PASSWORD_OPTIONS, readPassword } from '../input/admin-credentials.ts'
import { DEFAULT_STORAGE, DEFAULT_STORAGE_FILE, openStorage } from '../input/open-storage.ts'

/** `portcullis init`. */
export const INIT = defineCommand({
  options: {
    host: {
      value: 'HOST',
      repeatable: true,
      summary: 'name or address under which clients reach it, besides this machine; may be repeated',
    },
    'trust-domain': { value: 'NAME', summary: 'SPIFFE trust domain; default portcullis.internal' },
    username: { value: 'NAME', summary: 'of the admin; default admin' },
    ...PASSWORD_OPTIONS,
  },
  hasJson: true,
  details: `Makes .portcullis here: pki with certificates and keys, and portcullis.sqlite with the admin, for their owner alone.
portcullis serve serves it, and the commands beside it find it. What is there already is not touched.`,
  examples: ['portcullis init --host ctrl.example.org', 'portcullis init --password-file password && portcullis serve'],
  run: initialise,
})

const PKI_DIRECTORY = '.portcullis/pki'

/** Makes the folder of a new controller. Throws {@link UsageError} where there is one. */
async function initialise(
  call: CommandCall<keyof typeof PASSWORD_OPTIONS | 'host' | 'trust-domain' | 'username'>,
): Promise<Answer> {
  const { options, terminal } = call
  if (existsSync(DEFAULT_STORAGE_FILE)) throw new UsageError(`${DEFAULT_STORAGE_FILE} is there already`)
  const password = await readPassword({ options, terminal, isNew: true })
  const own = [hostname(), 'localhost', '127.0.0.1', '::1'].filter((host) => /^[a-z0-9.:-]+$/i.test(host))
  const hosts = [...new Set([...options.settings('host').map(({ value }) => value), ...own])]
  const { storage } = await openStorage({ name: '--storage', value: DEFAULT_STORAGE })
  const operator = await openOperator({ storage })
  try {
    const username = options.typed('username') ?? 'admin'
    const trustDomain = options.typed('trust-domain')
    await openPkiDirectory(PKI_DIRECTORY, { hosts, ...(trustDomain !== undefined && { trustDomain }) }).catch(
      asUsageError,
    )
    const { weakness } = await operator.resetAdminPassword({ username, password }).catch(asUsageError)
    if (weakness !== null) terminal.tell(`warning: the password is weak: ${weakness}`)
    const schema = schemaPath()
    const text = [
      `made ${PKI_DIRECTORY} for ${hosts.join(', ')}`,
      `made ${DEFAULT_STORAGE_FILE} with the admin ${username}`,
      '',
      'portcullis serve            serves it',
      'portcullis login            logs in to it, beside this folder',
      'portcullis identities list  asks it',
      '',
      `Model files (portcullis plan, test) are completed and checked by editors that read ${schema}; a YAML file says so in its`,
      `first line: # yaml-language-server: $schema=${schema}`,
    ].join('\n')
    return { text, value: { pki: PKI_DIRECTORY, storage: DEFAULT_STORAGE, username, hosts, schema } }
  } finally {
    await operator.close()
  }
}

/** The JSON Schema of model files in the package that runs, as seen from this folder. */
function schemaPath(): string {
  return relative('', createRequire(import.meta.url).resolve('portcullis/model.schema.json'))
}

function asUsageError(error: unknown): never {
  const isRefusal = error instanceof ControllerError || (error instanceof Error && error.name === 'PkiFileError')
  if (!isRefusal) throw error
  throw new UsageError(error.message, { cause: error })
}
