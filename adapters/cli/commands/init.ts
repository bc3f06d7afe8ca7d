import { defineCommand } from '../command-line/command.ts'
import { PASSWORD_OPTIONS } from '../input/admin-credentials.ts'

/** `portcullis init`. */
export const INIT = defineCommand({
  name: 'init',
  summary: 'make the folder of a new controller: certificates, keys, storage and its admin',
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
  run: async (call) => {
    const { initialise } = await import('./initialise.ts')
    return initialise(call)
  },
})
