import { defineCommand, EXIT_NO } from '../../command-line/command.ts'

const FILE = { value: 'FILE', variable: true, summary: 'its configuration file; default: router.json' } as const

/** Options of where a router listens and dials, which its file keeps and `router run` may override. */
const PLACE_OPTIONS = {
  listen: {
    value: 'HOST:PORT',
    variable: true,
    summary: 'where other routers connect to it; without it, it only dials',
  },
  advertise: { value: 'HOST:PORT', variable: true, summary: 'where they reach it; default: the address of --listen' },
  'link-group': { value: 'NAME', repeatable: true, summary: 'links it holds, by group; default: default' },
  'no-link-dial': { summary: 'dial no other router: it is dialed' },
} as const

/** `portcullis router enroll`. */
export const ROUTER_ENROLL = defineCommand({
  name: 'router enroll',
  summary: 'enroll a router of this machine by the token that its controller made',
  operands: 'TOKEN_FILE',
  options: {
    file: FILE,
    ...PLACE_OPTIONS,
    force: { summary: 'replace a file that is there' },
    host: { value: 'NAME', repeatable: true, summary: 'a further name or address of it' },
  },
  details: `Takes the enrollment token (JWT) of an edge router or transit router of any controller, of Portcullis or a deployed one, and
writes one file: key, certificates, where its controllers are, and where it listens. The key is made here and never leaves it.`,
  examples: ['portcullis router enroll edge-1.jwt --listen 0.0.0.0:3022 --advertise edge-1.example.org:3022'],
  run: async (call) => {
    const { enroll } = await import('./run-router.ts')
    return enroll(call)
  },
})

/** `portcullis router run`. */
export const ROUTER_RUN = defineCommand({
  name: 'router run',
  summary: 'run an enrolled router until SIGTERM or SIGINT',
  options: {
    file: FILE,
    ...PLACE_OPTIONS,
    'stop-within': {
      value: 'SECONDS',
      variable: true,
      summary: 'how long circuits may take to end at a stop; default 30',
    },
    'renew-certificates': { summary: 'renew key and certificates as soon as it is connected' },
  },
  details: `Keeps a control channel to every controller of its network, links with other routers, and carries circuits as they lay them.
It renews its key and certificates a week before they run out. At SIGTERM or SIGINT it takes nothing new, lets circuits end
for as long as --stop-within says, and ends; a second signal ends it at once. One line on standard output tells when its ports
are open; what happens afterwards goes to standard error.`,
  examples: ['portcullis router run --file edge-1.json'],
  exitCodes: {
    0: 'stopped as it was asked to',
    130: 'a second SIGINT ended it at once',
    143: 'a second SIGTERM ended it at once',
  },
  run: async (call) => {
    const { run } = await import('./run-router.ts')
    return run(call)
  },
})

/** `portcullis router doctor`. */
export const ROUTER_DOCTOR = defineCommand({
  name: 'router doctor',
  summary: 'look for what is wrong with an enrolled router: certificates, clock, controllers, addresses',
  options: { file: FILE },
  hasJson: true,
  details: `Reads its file, looks at key and certificates, and introduces itself to each of its controllers as the router would. Do
not ask while the router runs: a controller lets one of two in.`,
  exitCodes: { 0: 'nothing is wrong; there may be warnings', [EXIT_NO]: 'something is wrong' },
  run: async (call) => {
    const { examineRouter } = await import('./examine-router.ts')
    return examineRouter(call)
  },
})
