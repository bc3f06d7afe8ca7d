import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { relative } from 'node:path'
import { ControllerError, openOperator } from '../../../../../src/index.ts'
import { type Answer, type CommandCall, defineCommand } from '../../command-line/command.ts'
import { UsageError } from '../../command-line/usage.ts'
import { PASSWORD_OPTIONS, readPassword, requireLengths } from '../../input/admin-credentials.ts'
import { DEFAULT_STORAGE, DEFAULT_STORAGE_FILE, openStorage } from '../../input/open-storage.ts'
import { CERTIFICATE_OPTIONS, certificateHosts, createPkiIn } from '../create-pki.ts'

/** `portcullis init`. */
export const INIT = defineCommand({
  options: {
    ...CERTIFICATE_OPTIONS,
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

/** Makes the folder of a new controller. Throws {@link UsageError} if it exists. */
async function initialise(
  call: CommandCall<keyof typeof PASSWORD_OPTIONS | keyof typeof CERTIFICATE_OPTIONS | 'username'>,
): Promise<Answer> {
  const { options, terminal } = call
  if (existsSync(DEFAULT_STORAGE_FILE)) throw new UsageError(`${DEFAULT_STORAGE_FILE} is there already`)
  const username = options.typed('username') ?? 'admin'
  const password = await readPassword({ options, terminal, isNew: true })
  // Credentials are refused before a database is made, which would stand in the way of the next try.
  requireLengths({ username, password }, { username: '--username', password: 'the password' })
  const hosts = certificateHosts(options.settings('host').map(({ value }) => value))
  await createPkiIn(PKI_DIRECTORY, { hosts, trustDomain: options.typed('trust-domain') })
  const { storage } = await openStorage({ name: '--storage', value: DEFAULT_STORAGE })
  const operator = await openOperator({ storage })
  try {
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
  if (!(error instanceof ControllerError)) throw error
  throw new UsageError(error.message, { cause: error })
}
