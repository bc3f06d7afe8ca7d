import { defineCommand, EXIT_NO } from '../command-line/command.ts'
import { STORAGE_OPTIONS } from '../input/storage-options.ts'

/** `portcullis import`. */
export const IMPORT = defineCommand({
  name: 'import',
  summary: 'take over the network of an OpenZiti controller',
  options: {
    from: { value: 'https://HOST:PORT|FILE', summary: 'the controller to read, or what ziti ops export wrote of it' },
    'from-ca': { value: 'FILE', summary: 'trust bundle of that controller, PEM: the one that its devices pin' },
    ...STORAGE_OPTIONS,
    pki: { value: 'DIR', variable: true, summary: 'folder of certificates and keys; default .portcullis/pki' },
    'server-cert': { value: 'FILE', summary: 'TLS server certificate of the controller with its intermediates' },
    'server-key': { value: 'FILE', summary: 'its key' },
    'signing-cert': { value: 'FILE', summary: 'authority of the controller that signs client certificates' },
    'signing-key': { value: 'FILE', summary: 'its key' },
    ca: { value: 'FILE', summary: 'trust bundle that the two lead to; with a FILE the one of --url' },
    url: { value: 'https://HOST:PORT', summary: 'for a FILE: the running controller that gets the network' },
    profile: { value: 'NAME', variable: true, summary: 'a login of portcullis login, instead of the environment' },
    'hold-second-factors': {
      summary: 'identities that had an authenticator app may do nothing but enroll one, until they have one again',
    },
    'dry-run': { summary: 'show what would be taken over, and write nothing' },
  },
  hasJson: true,
  details: `From a running controller everything is taken over with its id into a storage: entities, tags, states, policies,
certificates, enrollments. It logs in to it with PORTCULLIS_ADMIN_USERNAME and PORTCULLIS_ADMIN_PASSWORD, reads, and changes
nothing there. Served with the same certificates at the same address, no device enrolls again. In the end both are asked
alike. A FILE has neither ids nor certificates: its network is applied to a running controller, as a model file is.
docs/moving-from-openziti.md tells what moves and what does not.`,
  examples: [
    'portcullis import --from https://old.example.org:1280 --from-ca ca.pem --storage sqlite:network.sqlite --pki pki',
    'portcullis import --from export.json --url https://ctrl.example.org:1280 --ca ca.pem --dry-run',
  ],
  exitCodes: { 0: 'taken over, and both answer alike', [EXIT_NO]: 'something differs' },
  run: async ({ options, environment, terminal }) => {
    const { importNetwork } = await import('./import-network.ts')
    return importNetwork(options, environment, terminal)
  },
})
