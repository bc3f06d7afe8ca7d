import { defineCommand, EXIT_NO } from '../../command-line/command.ts'
import { CERTIFICATE_FILE_OPTIONS } from '../../input/certificate-file-options.ts'
import { STORAGE_OPTIONS } from '../../input/storage-options.ts'

/** `portcullis doctor`. */
export const DOCTOR = defineCommand({
  name: 'doctor',
  summary: 'look for what is wrong, or soon will be, with certificates, storage and network',
  options: {
    ...STORAGE_OPTIONS,
    pki: { value: 'DIR', variable: true, summary: 'folder of certificates and keys; default .portcullis/pki' },
    ...CERTIFICATE_FILE_OPTIONS,
    'within-days': { value: 'DAYS', summary: 'warn of certificates that expire so soon; default 30' },
    repair: { summary: 'restore what every network has, and take references to nothing out' },
    'delete-damaged': { summary: 'delete other records that cannot be read, each of which is named; with --repair' },
  },
  hasJson: true,
  details: `Looks at the certificates and keys (expired or soon, not valid yet, not belonging to each other, readable by others),
the storage (whole, with an administrator who can log in), the clock (behind what is stored), and the network (policies
that select nothing, services without edge routers). Reads only, and the storage may be served.

With --repair, what every network has (the auth policy 'default', identity types, posture check types, built-in config types)
becomes what a new network has as far as it cannot be read, and references to nothing go; everything that becomes of a record
is told. The restored policy lets passwords, certificates and tokens in without a second factor: look at it before it is used.
Other records that cannot be read stay as they are, unless --delete-damaged is given as well. A SQLite file is copied first.`,
  examples: [
    'portcullis doctor',
    'portcullis doctor --repair',
    'portcullis doctor --storage postgres://db/net --pki /etc/portcullis/pki --json',
  ],
  exitCodes: { 0: 'nothing is wrong; there may be warnings', [EXIT_NO]: 'something is wrong' },
  run: async (call) => {
    const { examine } = await import('./examine.ts')
    return examine(call)
  },
})
