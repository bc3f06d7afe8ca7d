import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { text } from 'node:stream/consumers'
import { listen as bind } from '../../../network/channel/index.ts'
import { writeNewDurably } from '../../../network/enrollment/index.ts'
import { enroll, type Identity, type ServiceConnection } from '../../../network/sdk/index.ts'
import { type Answer, type CommandCall, defineCommand } from '../command-line/command.ts'
import { type Setting, UsageError } from '../command-line/usage.ts'
import { openedIdentity } from '../connection/opened-identity.ts'
import { readAddress } from '../input/address.ts'
import { tell } from '../output.ts'
import { stopSignal } from './serve/serve-until-stopped.ts'

const IDENTITY = {
  value: 'FILE',
  variable: true,
  summary: 'the identity that dials or hosts: a file of portcullis tunnel enroll, or of another program of the field',
} as const

const TOKEN = {
  value: 'FILE',
  summary: 'enroll by the token in FILE, - for standard input, unless the identity is there; a terminal is asked',
} as const

/** `portcullis tunnel enroll`. */
export const TUNNEL_ENROLL = defineCommand({
  operands: 'TOKEN_FILE',
  options: { out: { value: 'FILE', summary: 'the identity file; default: the token file, with the ending .json' } },
  details: `Reads the token of an identity, of Portcullis or of a deployed controller, and writes the file for its owner alone. A token is
good for one enrollment.`,
  examples: ['portcullis tunnel enroll laptop.jwt', 'portcullis tunnel enroll laptop.jwt --out /etc/laptop.json'],
  run: enrollByFile,
})

/** `portcullis tunnel proxy`. */
export const TUNNEL_PROXY = defineCommand({
  operands: 'SERVICE:PORT...',
  options: {
    identity: IDENTITY,
    token: TOKEN,
    listen: { value: 'HOST', summary: 'the address of this machine that the ports are on; default: 127.0.0.1' },
  },
  details: `Each connection to a port is one to its service, for as long as policies let the identity dial it. Whoever can connect to the
ports acts as the identity: an address that other machines reach opens the services to them. Where the file of the identity is not there,
a terminal is asked for the invitation, as portcullis up prints it, and the identity enrolls.`,
  examples: ['portcullis tunnel proxy --identity laptop.json payroll:8080', 'curl http://127.0.0.1:8080/'],
  run: proxyServices,
})

/** `portcullis tunnel host`. */
export const TUNNEL_HOST = defineCommand({
  operands: 'SERVICE=HOST:PORT...',
  options: { identity: IDENTITY, token: TOKEN },
  details: `Each connection of a caller is one to the address of its service. The program behind it needs no port that others reach.`,
  examples: ['portcullis tunnel host --identity box.json payroll=127.0.0.1:3000'],
  run: hostAddresses,
})

/** Enrolls by the token in a file, and writes the identity beside it. Throws {@link UsageError}. */
async function enrollByFile({ operands, options }: CommandCall<'out'>): Promise<Answer> {
  const [file, ...others] = operands
  if (file === undefined || others.length > 0) throw new UsageError('tunnel enroll takes one file with a token')
  const out = options.value('out') ?? `${file.replace(/\.jwt$/, '')}.json`
  // Looked at before the token is used up.
  if (existsSync(out)) throw new UsageError(`'${out}' is there already: --out FILE names another one`)
  const { ztAPI: controller } = await enrollInto({ name: '--out', value: out }, await read(file))
  return { text: `the identity is in ${out}`, value: { file: out, controller } }
}

/** Enrolls by a token, and writes the identity into the file of a setting. Throws {@link UsageError}. */
async function enrollInto({ name, value: file }: Setting, token: string) {
  const identity = await identityOf(token)
  try {
    // A file that is there is not lost: its key exists nowhere else.
    await writeNewDurably(file, `${JSON.stringify(identity, null, 2)}\n`)
  } catch (error) {
    throw new UsageError(`${name}: '${file}' cannot be written`, { cause: error })
  }
  return identity
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new UsageError(`'${file}' cannot be read`, { cause: error })
  }
}

async function identityOf(token: string) {
  try {
    return await enroll(token)
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message, { cause: error })
    throw error
  }
}

/** Milliseconds for which connections may go on once the program is asked to stop. */
const GRACE_MS = 5000

/** Opens a port of this machine for each service until a signal asks to stop; the exit code. Throws {@link UsageError}. */
async function proxyServices(call: CommandCall<'identity' | 'listen' | 'token'>): Promise<number> {
  const wanted = call.operands.map(serviceAndPort)
  if (wanted.length === 0) throw new UsageError('tunnel proxy takes services and ports: payroll:8080')
  const host = call.options.value('listen') ?? '127.0.0.1'
  return withIdentity(call, async (identity) => {
    const servers = await Promise.all(wanted.map(({ service, port }) => listen(identity, service, host, port)))
    for (const { service, port } of wanted) call.terminal.print(`${service} is at ${host}:${port}`)
    await tellUnreachable(
      identity,
      wanted.map(({ service }) => service),
    )
    return async () => {
      for (const server of servers) server.close()
    }
  })
}

/** Hosts services at addresses until a signal asks to stop; the exit code. Throws {@link UsageError}. */
async function hostAddresses(call: CommandCall<'identity' | 'token'>): Promise<number> {
  const wanted = call.operands.map(serviceAndAddress)
  if (wanted.length === 0) throw new UsageError('tunnel host takes services and addresses: payroll=127.0.0.1:3000')
  return withIdentity(call, async (identity) => {
    const hosted = await Promise.all(wanted.map((one) => hostAt(identity, one)))
    for (const { service, host, port } of wanted) call.terminal.print(`${service} is answered by ${host}:${port}`)
    return async () => {
      await Promise.all(hosted.map((one) => one.close({ graceMs: GRACE_MS })))
    }
  })
}

/** Hosts a service: each connection of a caller is one to its address. */
export function hostAt(
  identity: Pick<Identity, 'host'>,
  { service, host, port }: ReturnType<typeof serviceAndAddress>,
): ReturnType<Identity['host']> {
  const take = (connection: ServiceConnection) => {
    const socket = connect({ host, port, allowHalfOpen: true, noDelay: true })
    carry(service, connection, socket)
  }
  const onChange = (failure?: Error) => tell(about(service, failure?.message ?? 'hosted again'))
  return identity.host(service, take, { onChange })
}

/** Opens the identity, begins, and ends when a signal asks to. */
async function withIdentity(
  call: CommandCall<'identity' | 'token'>,
  begin: (identity: Identity) => Promise<() => Promise<void>>,
): Promise<number> {
  const file = call.options.value('identity')
  if (file === undefined) throw new UsageError('--identity FILE says who dials or hosts')
  const stopped = stopSignal()
  await enrollUnlessThere(file, call)
  await using identity = await openedIdentity(file)
  const end = await begin(identity)
  tell(`stopping on ${await stopped}: a second signal ends connections at once`)
  await end()
  return 0
}

/** Enrolls by the token of the options, or by that which a terminal answers. Throws {@link UsageError}. */
async function enrollUnlessThere(file: string, { options, terminal }: CommandCall<'token'>): Promise<void> {
  if (existsSync(file)) return
  const asked = options.typed('token')
  const token = await (asked === undefined
    ? terminal.askSecret?.(`${file} is not there yet. The invitation: `)
    : asked === '-'
      ? text(process.stdin)
      : read(asked))
  if (token !== undefined) await enrollInto({ name: '--identity', value: file }, token)
}

async function listen(identity: Identity, service: string, host: string, port: number): Promise<Server> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, (socket) => {
    socket.on('error', () => undefined)
    identity.dial(service).then(
      (connection) => carry(service, connection, socket),
      (error: Error) => {
        tell(about(service, error.message))
        // The client learns that it is no answer.
        socket.resetAndDestroy()
      },
    )
  })
  await bind(server, host, port).catch((error: Error) => {
    throw new UsageError(error.message, { cause: error })
  })
  return server
}

/** Lists the services that the identity may not dial now; a later grant opens their ports. */
async function tellUnreachable(identity: Identity, names: readonly string[]): Promise<void> {
  try {
    const known = await identity.services()
    const dialed = new Set(known.filter(({ mayDial }) => mayDial).map(({ name }) => name))
    for (const name of names) if (!dialed.has(name)) tell(about(name, 'no policy lets this identity dial it now'))
  } catch (error) {
    tell(error instanceof Error ? error.message : String(error))
  }
}

/** A line about a service: failures of dials begin with its name already. */
function about(service: string, message: string): string {
  return message.startsWith(`${service}: `) ? message : `${service}: ${message}`
}

/** Both ways, each until its end; an error in one way ends both. */
function carry(service: string, connection: ServiceConnection, socket: Socket): void {
  const ended = (error?: Error | null) => {
    if (error && !EXPECTED.includes(String(Reflect.get(error, 'code')))) tell(about(service, error.message))
  }
  pipeline(socket, connection, ended)
  pipeline(connection, socket, ended)
}

/** Normal ends: one side closed early. */
const EXPECTED = ['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE']

function serviceAndPort(operand: string): { readonly service: string; readonly port: number } {
  const [, service = '', port = ''] = /^(.+):(\d{1,5})$/.exec(operand) ?? []
  if (service === '' || Number(port) < 1 || Number(port) > 65_535) {
    throw new UsageError(`tunnel proxy takes SERVICE:PORT, such as payroll:8080: not '${operand}'`)
  }
  return { service, port: Number(port) }
}

function serviceAndAddress(operand: string): {
  readonly service: string
  readonly host: string
  readonly port: number
} {
  const [, service = '', value = ''] = /^(.+)=([^=]+)$/.exec(operand) ?? []
  if (service === '') throw new UsageError(`tunnel host takes SERVICE=HOST:PORT: not '${operand}'`)
  return { service, ...readAddress({ name: service, value }, 1) }
}
