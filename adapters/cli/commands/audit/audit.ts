import { defineCommand, EXIT_NO } from '../../command-line/command.ts'
import { CONNECTION_DETAILS, CONNECTION_OPTIONS } from '../../connection/connection-options.ts'
import { STORAGE_OPTIONS } from '../../input/storage-options.ts'
import { AUDIT_OPTIONS } from './audit-options.ts'

/** `portcullis audit`. */
export const AUDIT = defineCommand({
  name: 'audit',
  summary: 'tell who did what, from where, and what before and after',
  options: AUDIT_OPTIONS,
  hasJson: true,
  details: `Beside a folder .portcullis, or with --storage, it reads the storage itself, served or not. With --url or --profile it
asks a running controller, which tells what the login may read. ${CONNECTION_DETAILS}`,
  examples: [
    'portcullis audit --limit 20',
    `portcullis audit --filter 'type = "login.refused"'`,
    'portcullis audit --lines --after 000000000000000042000000 > audit.jsonl',
  ],
  run: async (call) => {
    const { tellAudit } = await import('./tell-audit.ts')
    return tellAudit(call)
  },
})

/** `portcullis audit verify`. */
export const AUDIT_VERIFY = defineCommand({
  name: 'audit verify',
  summary: 'verify the chain of the audit trail, and name the first record that was altered or removed',
  options: {
    ...STORAGE_OPTIONS,
    head: { value: 'NUMBER:HASH', summary: 'a head that was kept elsewhere, as portcullis audit head prints it' },
  },
  hasJson: true,
  details: `Reads every record and every seal of a storage, served or not, and writes nothing. Whoever can write to the storage can
make the whole chain anew: a head that was kept elsewhere shows that. Records of about the last second are not sealed yet.`,
  examples: ['portcullis audit verify', 'portcullis audit verify --storage postgres://db/net --head 812:9f3c…'],
  exitCodes: { 0: 'every record is as it was written', [EXIT_NO]: 'something was altered, removed or added' },
  run: async (call) => {
    const { verifyAudit } = await import('./verify-audit.ts')
    return verifyAudit(call)
  },
})

/** `portcullis audit head`. */
export const AUDIT_HEAD = defineCommand({
  name: 'audit head',
  summary: 'print how far the audit trail goes, signed, to be kept elsewhere',
  options: CONNECTION_OPTIONS,
  hasJson: true,
  details: `Prints NUMBER:HASH of the last seal; with --json also a JSON Web Token of it by the key of the server certificate.
${CONNECTION_DETAILS}`,
  examples: ['portcullis audit head >> heads.txt'],
  run: async (call) => {
    const { tellHead } = await import('./tell-audit.ts')
    return tellHead(call)
  },
})
