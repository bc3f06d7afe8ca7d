import { defineCommand } from '../command-line/command.ts'
import { PASSWORD_OPTIONS } from '../input/admin-credentials.ts'
import { STORAGE_OPTIONS } from '../input/storage-options.ts'

/** `portcullis admin reset-password`. */
export const RESET_PASSWORD = defineCommand({
  name: 'admin reset-password',
  summary: 'let an administrator in again, on the storage itself, served or not',
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
  run: async (call) => {
    const { resetPassword } = await import('./reset-admin-password.ts')
    return resetPassword(call)
  },
})
