import { defineCommand, EXIT_NO } from '../../command-line/command.ts'

/** `portcullis explain`. */
export const EXPLAIN = defineCommand({
  name: 'explain',
  summary: 'tell whether an identity may dial or bind a service, and why',
  operands: '[IDENTITY dial|bind SERVICE]',
  words: ['dial', 'bind'],
  options: {
    url: { value: 'https://HOST:PORT', variable: true, summary: 'the controller to ask' },
    ca: { value: 'FILE', summary: "the controller's trust bundle, PEM; default: the certificates of the system" },
    identity: { value: 'NAME', summary: 'id or name of the identity, instead of the words' },
    service: { value: 'NAME', summary: 'id or name of the service, instead of the words' },
    type: {
      value: 'dial|bind',
      choices: ['dial', 'bind'],
      summary: 'what is asked, instead of the words; default dial',
    },
  },
  hasJson: true,
  details: `Asks a running controller and prints why in sentences. It logs in with PORTCULLIS_ADMIN_USERNAME and
PORTCULLIS_ADMIN_PASSWORD.`,
  examples: ['portcullis explain laptop dial payroll --url https://ctrl.example.org:1280 --ca ca.pem'],
  exitCodes: { 0: 'access is granted', [EXIT_NO]: 'access is denied' },
  run: async ({ options, operands, environment }) => {
    const { readExplainOptions } = await import('./explain-options.ts')
    const { explainAccess } = await import('./explain-access.ts')
    const { text, allowed, ...rest } = await explainAccess(readExplainOptions(options, operands, environment))
    return { text, value: { allowed, text, ...rest }, code: allowed ? 0 : EXIT_NO }
  },
})
