import { ControllerError, type PasswordResetReport } from '../../../src/index.ts'
import type { Answer, CommandCall } from '../command-line/command.ts'
import { UsageError } from '../command-line/usage.ts'
import { type PASSWORD_OPTIONS, readPassword } from '../input/admin-credentials.ts'
import { withOperator } from '../input/open-storage.ts'
import type { STORAGE_OPTIONS } from '../input/storage-options.ts'

type Options = keyof typeof PASSWORD_OPTIONS | keyof typeof STORAGE_OPTIONS | 'password-only'

/** Resets the password of an administrator on a storage. Throws {@link UsageError} for what cannot be set. */
export async function resetPassword({ options, operands, terminal }: CommandCall<Options>): Promise<Answer> {
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

/** Turns a refusal by the rules into an error for whoever asked to change. */
function asUsageError(error: unknown): never {
  if (!(error instanceof ControllerError)) throw error
  throw new UsageError(error.message, { cause: error })
}
