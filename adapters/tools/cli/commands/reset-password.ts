import { ControllerError, type PasswordResetReport } from '../../../../src/index.ts'
import { type Answer, type CommandCall, defineCommand } from '../command-line/command.ts'
import { UsageError } from '../command-line/usage.ts'
import { PASSWORD_OPTIONS, readPassword } from '../input/admin-credentials.ts'
import { STORAGE_OPTIONS, withOperator } from '../input/open-storage.ts'

/** `portcullis admin reset-password`. */
export const RESET_PASSWORD = defineCommand({
  operands: '[USERNAME]',
  options: {
    ...STORAGE_OPTIONS,
    ...PASSWORD_OPTIONS,
    'password-only': { summary: 'also take second factors away: MFA, and what the auth policy asks for besides' },
  },
  hasJson: true,
  details: `Sets the password of an administrator on the storage, and takes away whatever else would shut it out: a lockout, a
disabled identity, an auth policy that forbids passwords. Without USERNAME it is the default admin; one that has lost its
username gets USERNAME, else admin. A store without any default admin gets one. All its API sessions end, also those of
controllers that are serving the storage right now. No auth policy of others is changed: an administrator whom neither its
own nor the default one lets in gets the policy 'Administrator recovery'.

The password is asked for on the terminal, or comes from standard input or a file: never from the command line.`,
  examples: [
    'portcullis admin reset-password',
    'portcullis admin reset-password keeper --storage postgres://db/net --password-file new-password',
  ],
  run: resetPassword,
})

type Options = keyof typeof PASSWORD_OPTIONS | keyof typeof STORAGE_OPTIONS | 'password-only'

/** Resets the password of an administrator on a storage. Throws {@link UsageError} for a password that cannot be set. */
async function resetPassword({ options, operands, terminal }: CommandCall<Options>): Promise<Answer> {
  const [username, ...more] = operands
  if (more.length > 0) throw new UsageError('admin reset-password takes one USERNAME; the password is no argument')
  return withOperator(options, async (operator) => {
    const password = await readPassword({ options, terminal, isNew: true })
    const passwordOnly = options.flag('password-only')
    const report = await operator.resetAdminPassword({ username, password, passwordOnly }).catch(asUsageError)
    if (report.weakness !== null) terminal.tell(`warning: the password is weak: ${report.weakness}`)
    return { text: textOf(report), value: report }
  })
}

function textOf({ username, isNew, wasDisabled, hasOtherPolicy, hasLostMfa }: PasswordResetReport): string {
  return [
    isNew
      ? `there was no default admin: ${username} is it now`
      : `the password of ${username} is set, its sessions ended`,
    ...(wasDisabled ? ['its identity was disabled: it is enabled'] : []),
    ...(hasOtherPolicy ? ['its auth policy shut it out: it has another one'] : []),
    ...(hasLostMfa ? ['its MFA is removed'] : []),
  ].join('\n')
}

/** Turns a refusal by the rules into an error that the operator can act on. */
function asUsageError(error: unknown): never {
  if (!(error instanceof ControllerError)) throw error
  throw new UsageError(error.message, { cause: error })
}
