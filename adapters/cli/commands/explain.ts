import { defineCommand, EXIT_NO, EXIT_UNUSABLE } from '../command-line/command.ts'
import { EXPLAIN_OPTIONS } from './explain-options.ts'

/** `portcullis explain`. */
export const EXPLAIN = defineCommand({
  name: 'explain',
  summary: 'tell whether an identity may dial or bind a service, and why',
  operands: '[IDENTITY dial|bind SERVICE]',
  words: ['dial', 'bind'],
  options: EXPLAIN_OPTIONS,
  hasJson: true,
  details: `Prints the answer in sentences, and what would change it. Beside a folder .portcullis, or with --storage, it reads
the storage itself, served or not: whoever may read that needs no login. With --url or --profile it asks a running
controller: as the login of portcullis login, or with PORTCULLIS_ADMIN_USERNAME and PORTCULLIS_ADMIN_PASSWORD. Nothing is
written.`,
  examples: [
    'portcullis explain laptop dial payroll',
    'portcullis explain laptop dial payroll --profile staging --json',
  ],
  exitCodes: {
    0: 'access is granted',
    [EXIT_NO]: 'access is denied',
    [EXIT_UNUSABLE]: 'no identity or service has the name',
  },
  run: async (call) => {
    const { explainAccess } = await import('./explain-access.ts')
    return explainAccess(call)
  },
})
