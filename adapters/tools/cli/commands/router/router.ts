import { type ChildProcess, fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { readEnrollmentToken } from '../../../../network/enrollment/index.ts'
import {
  enrollRouter,
  type RouterIdentity,
  runRouter,
  runRouterByWorkers,
  runRouterWorker,
} from '../../../../network/router/index.ts'
import { formatAddress, isWildcardHost, parseAddress } from '../../../../web/node/index.ts'
import { type Answer, type CommandCall, defineCommand } from '../../command-line/command.ts'
import { UsageError } from '../../command-line/usage.ts'
import { readAddress } from '../../input/address.ts'
import { tell } from '../../output.ts'
import { stopSignal } from '../serve/serve-until-stopped.ts'
import { readWorkers } from '../serve/worker-options.ts'
import { DEFAULT_ROUTER_FILE, type RouterFile, readRouterFile, writeRouterFile } from './router-file.ts'

/** The option that names the file of a router. */
export const ROUTER_FILE = {
  value: 'FILE',
  variable: true,
  summary: 'its configuration file; default: router.json',
} as const

/** Options of where a router listens and dials, which its file keeps and `router run` may override. */
const PLACE_OPTIONS = {
  listen: {
    value: 'HOST:PORT',
    variable: true,
    summary: 'where SDKs, tunnelers and other routers connect to it; without it, it only dials other routers',
  },
  advertise: { value: 'HOST:PORT', variable: true, summary: 'where they reach it; default: the address of --listen' },
  'link-group': { value: 'NAME', repeatable: true, summary: 'links it holds, by group; default: default' },
  'no-link-dial': { summary: 'dial no other router: it is dialed' },
} as const

/** `portcullis router enroll`. */
export const ROUTER_ENROLL = defineCommand({
  operands: 'TOKEN_FILE',
  options: {
    file: ROUTER_FILE,
    ...PLACE_OPTIONS,
    force: { summary: 'replace a file that is there' },
    host: { value: 'NAME', repeatable: true, summary: 'a further name or address of it' },
    controller: {
      value: 'HOST:PORT',
      repeatable: true,
      summary:
        'where it reaches a controller, in place of the addresses in the token: deployed controllers may name none',
    },
  },
  details: `Takes the enrollment token (JWT) of an edge router or transit router of any controller, of Portcullis or a deployed one, and
writes one file: key, certificates, where its controllers are, and where it listens. The key is made here and never leaves it.`,
  examples: ['portcullis router enroll edge-1.jwt --listen 0.0.0.0:3022 --advertise edge-1.example.org:3022'],
  run: enroll,
})

/** `portcullis router run`. */
export const ROUTER_RUN = defineCommand({
  options: {
    file: ROUTER_FILE,
    ...PLACE_OPTIONS,
    'stop-within': {
      value: 'SECONDS',
      variable: true,
      summary: 'how long circuits may take to end at a stop; default 30',
    },
    'renew-certificates': { summary: 'renew key and certificates as soon as it is connected' },
    workers: {
      value: 'COUNT',
      variable: true,
      summary: 'how many processes carry its circuits, or auto for one per core; it stays one router. Default: 1',
    },
  },
  details: `Keeps a control channel to every controller of its network, links with other routers, and carries circuits as they lay them.
It renews its key and certificates a week before they run out. At SIGTERM or SIGINT it takes nothing new, lets circuits end
for as long as --stop-within says, and ends; a second signal ends it at once. One line on standard output tells when its ports
are open; what happens afterwards goes to standard error.

With --workers an edge router has as many processes as it says. It stays one router with one address: connections are handed out, and
a circuit whose ends are at two processes goes over a socket of this machine. A process that ends is started again: the circuits that it
carried end, all others go on.`,
  examples: ['portcullis router run --file edge-1.json', 'portcullis router run --workers auto'],
  exitCodes: {
    0: 'stopped as it was asked to',
    130: 'a second SIGINT ended it at once',
    143: 'a second SIGTERM ended it at once',
  },
  run: run,
})

type PlaceOption = 'file' | 'listen' | 'advertise' | 'link-group' | 'no-link-dial'

/** Enrolls a router and writes its file. Throws {@link UsageError}. */
async function enroll({
  options,
  operands,
}: CommandCall<PlaceOption | 'host' | 'controller' | 'force'>): Promise<Answer> {
  const [tokenFile, ...more] = operands
  if (tokenFile === undefined || more.length > 0) throw new UsageError('router enroll takes one TOKEN_FILE')
  const place = readPlace(options)
  const path = options.value('file') ?? DEFAULT_ROUTER_FILE
  // Before the token is used up: it is good once.
  if (existsSync(path) && !options.flag('force')) {
    throw new UsageError(`${path} holds a router already: --file names another one, --force replaces it`)
  }
  const token = await readFile(tokenFile, 'utf8').catch(() => {
    throw new UsageError(`the file ${tokenFile} cannot be read`)
  })
  const named = options.settings('controller').map((setting) => `tls:${formatAddress(readAddress(setting, 1))}`)
  if (named.length === 0 && readEnrollmentToken(token).controllers.length === 0) {
    throw new UsageError('the token names no controller that routers reach: --controller HOST:PORT names one')
  }
  const further = options.settings('host').map(({ value }) => value)
  const enrolled = await enrollRouter(token, [...new Set([...hostsIn(place), ...further])])
  const identity = named.length === 0 ? enrolled : { ...enrolled, controllers: named }
  await writeRouterFile(path, { identity, ...place })
  const text = `router ${identity.id} is enrolled: ${path} has its key; controllers: ${identity.controllers.join(', ')}`
  return { text }
}

/** The variable by which a process that this command forked knows that it is a worker. */
const IS_WORKER = 'PORTCULLIS_ROUTER_WORKER'

/** Runs a router until it is asked to stop; answers the exit code. Throws {@link UsageError}. */
async function run(call: CommandCall<PlaceOption | 'stop-within' | 'renew-certificates' | 'workers'>): Promise<number> {
  const { options, terminal, environment } = call
  if (environment[IS_WORKER] !== undefined && process.send !== undefined) return runAsWorker()
  const workers = readWorkers(options.setting('workers'))
  const path = options.value('file') ?? DEFAULT_ROUTER_FILE
  const seconds = options.value('stop-within') ?? '30'
  if (!/^\d{1,5}$/.test(seconds)) throw new UsageError(`--stop-within takes whole seconds, not '${seconds}'`)
  let file: RouterFile = { ...(await readRouterFile(path)) }
  // Options of the command are for this run; the file keeps its own.
  const { listen, advertise, linkGroups, dialsLinks } = { ...file, ...readPlace(options) }
  if (workers > 1) requireWorkable(file.identity.kind, listen)
  const stopped = stopSignal()
  const settings = {
    identity: file.identity,
    ...(advertise !== undefined && { advertise }),
    ...(linkGroups && { linkGroups }),
    dialGroups: dialsLinks === false ? [] : (linkGroups ?? ['default']),
    renewsAtOnce: options.flag('renew-certificates'),
    onChange: async (identity: RouterIdentity) => {
      file = { ...file, identity }
      await writeRouterFile(path, file)
    },
    log: (event: string, fields: Readonly<Record<string, unknown>>) => tell(`${event} ${JSON.stringify(fields)}`),
  }
  const router =
    workers > 1 && listen !== undefined
      ? await runRouterByWorkers({ ...settings, listen, workers, fork: forkItself })
      : await runRouter({ ...settings, ...(listen !== undefined && { listen }) })
  const place = router.address ? ` at ${router.address}` : ', and only dials'
  terminal.print(`router ${file.identity.id} runs${place}${workers > 1 ? `, ${workers} workers` : ''}`)
  const reason = await stopped
  tell(`stopping on ${reason}: circuits may end within ${seconds} s; a second signal ends them`)
  await router.close({ graceMs: Number(seconds) * 1000 })
  return 0
}

/** Refuses routers that several processes cannot carry. Throws {@link UsageError}. */
function requireWorkable(kind: RouterIdentity['kind'], listen: string | undefined): void {
  if (kind === 'transit') {
    throw new UsageError('--workers is for edge routers: the links of a router are all in one process')
  }
  if (process.platform === 'win32') throw new UsageError('--workers is for Unix, where processes share connections')
  if (listen === undefined) {
    throw new UsageError('--workers needs --listen HOST:PORT, at which endpoints are handed out to the workers')
  }
}

/** Starts this command once more, as a worker. */
function forkItself(): ChildProcess {
  const [, program = ''] = process.argv
  const env = { ...process.env, [IS_WORKER]: 'yes' }
  return fork(program, process.argv.slice(2), {
    env,
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
}

/** Never resolves: the process ends at the word of its parent process. */
async function runAsWorker(): Promise<number> {
  await runRouterWorker()
  return new Promise(() => undefined)
}

type Place = Omit<RouterFile, 'identity'>

function readPlace(options: CommandCall<PlaceOption>['options']): Place {
  const listen = options.setting('listen')
  const advertise = options.setting('advertise')
  const groups = options.settings('link-group').map(({ value }) => value)
  if (listen !== undefined) {
    const address = readAddress(listen, 1)
    if (advertise === undefined && isWildcardHost(address.host)) {
      throw new UsageError(`${listen.name} stands for every interface; routers need one address: --advertise HOST:PORT`)
    }
  }
  return {
    ...(listen && { listen: formatAddress(readAddress(listen, 1)) }),
    ...(advertise && { advertise: formatAddress(readAddress(advertise, 1)) }),
    ...(groups.length > 0 && { linkGroups: groups }),
    ...(options.flag('no-link-dial') && { dialsLinks: false }),
  }
}

/** The names under which others reach a router. */
function hostsIn({ listen, advertise }: Place): readonly string[] {
  const host = parseAddress(advertise ?? listen ?? '')?.host
  return host === undefined ? [] : [host]
}
