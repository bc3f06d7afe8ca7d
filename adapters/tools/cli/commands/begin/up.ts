import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { isIPv4, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { type Controller, ControllerError } from '../../../../../src/index.ts'
import { networkOf } from '../../../../../src/planning/index.ts'
import { writeDurably } from '../../../../network/enrollment/index.ts'
import {
  type Address,
  formatAddress,
  isWildcardHost,
  pkiFilesIn,
  serverCertificateFacts,
} from '../../../../web/node/index.ts'
import { modelObject, modelText } from '../../../model/index.ts'
import { type CommandCall, defineCommand } from '../../command-line/command.ts'
import { readArguments } from '../../command-line/options.ts'
import { UsageError } from '../../command-line/usage.ts'
import { readAddress } from '../../input/address.ts'
import { tell } from '../../output.ts'
import { qrCode } from '../invite.ts'
import { requireFree, withoutMistakes } from '../model/model-files.ts'
import { SERVE_OPTIONS } from '../serve/option-declarations.ts'
import type { ServedController } from '../serve/serve-controller.ts'
import { readServeOptions } from '../serve/serve-options.ts'
import { started, stopSignal } from '../serve/serve-until-stopped.ts'
import { hostAt } from '../tunnel.ts'
import { type AnsweredService, answeredServices, dialedBy, HOST, PLAIN_NAME, withServices } from './up-network.ts'

/** The options of `portcullis up`. */
const UP_OPTIONS = {
  for: { value: 'NAME', repeatable: true, summary: 'an identity that may dial these services; may be repeated' },
  at: {
    value: 'HOST:PORT',
    summary:
      'where other machines reach this one; default: its first address, port 1280; localhost is for this machine',
  },
  folder: { value: 'DIR', summary: 'the folder of the network, made when missing; default .portcullis' },
  save: { value: 'FILE', summary: 'write the network as a model, ending in .yaml, .yml or .json' },
  force: { summary: 'replace the file of --save' },
} as const

/** `portcullis up`. */
export const UP = defineCommand({
  operands: 'SERVICE=HOST:PORT...',
  options: UP_OPTIONS,
  details: `Makes the network of the folder, or finds it, and serves it until SIGTERM or SIGINT: a controller, an edge router and a host that
answers each service by its address. Prints an invitation for each identity of --for that has not enrolled, and the line that opens the
services on its machine. The same again adds services and identities to what is there; without a service it serves what is there.`,
  examples: [
    'portcullis up payroll=127.0.0.1:3000 --for laptop',
    'portcullis up wiki=127.0.0.1:4000 --for laptop --for phone --save net.yaml',
  ],
  run: up,
})

type UpCall = CommandCall<keyof typeof UP_OPTIONS>

const DEFAULT_FOLDER = '.portcullis'
const DEFAULT_PORT = 1280
/** The port of the first service on the machine of an identity. */
const FIRST_PORT = 8080
/** Milliseconds for which connections may go on once the program is asked to stop. */
const GRACE_MS = 1000

/** Serves a network with the asked services until a signal asks to stop; the exit code. Throws {@link UsageError}. */
async function up(call: UpCall): Promise<number> {
  const { options, operands } = call
  const added = operands.map(answeredService)
  const twice = added.find(({ service }, position) => added.findIndex((one) => one.service === service) < position)
  if (twice !== undefined) throw new UsageError(`up answers '${twice.service}' by one address: it is there twice`)
  const dialers = [...new Set(options.settings('for').map(({ value }) => plainName('--for', value)))]
  if (dialers.includes(HOST)) throw new UsageError(`--for: '${HOST}' is the identity by which up hosts its services`)
  const save = readSave(call)
  const folder = options.typed('folder') ?? DEFAULT_FOLDER
  const isThere = requireOwn(folder)
  if (added.length === 0 && dialers.length > 0) {
    throw new UsageError('--for is about services of the same command, such as payroll=127.0.0.1:3000: none is named')
  }
  if (added.length === 0 && !isThere) {
    throw new UsageError('up takes services and their addresses, such as payroll=127.0.0.1:3000')
  }
  const at = readAt(options.typed('at'), folder, isThere)
  await withoutMistakes(() => mkdir(folder, { recursive: true, mode: 0o700 }))
  const stopped = stopSignal()
  const served = await serving(folder, at)
  try {
    for (const note of served.notes) if (note.startsWith('warning')) tell(note)
    const hosted = await withServing(call, served, { added, dialers, save })
    call.terminal.print(
      `up at https://${formatAddress({ ...at, port: served.server.port })}, in ${folder}: Ctrl-C ends it`,
    )
    tell(`stopping on ${await stopped}`)
    await Promise.all(hosted.map((one) => one.close({ graceMs: GRACE_MS })))
  } finally {
    await served.close()
  }
  return 0
}

interface Asked {
  readonly added: readonly AnsweredService[]
  readonly dialers: readonly string[]
  readonly save: string | undefined
}

/** Gives the network what is asked for, hosts its services, and prints how they are reached. */
async function withServing({ terminal }: UpCall, { controller, server }: ServedController, asked: Asked) {
  const before = modelObject(await networkOf(controller))
  const network = asked.added.length === 0 ? before : withServices(before, asked.added, asked.dialers)
  if (network !== before) await controller.apply(network)
  if (asked.save !== undefined) {
    const text = await modelText(await networkOf(controller), asked.save.endsWith('.json') ? 'json' : 'yaml')
    const file = asked.save
    await withoutMistakes(() => writeDurably(file, text, { isPublic: true }))
    tell(`wrote ${file}`)
  }
  const services = answeredServices(network)
  const host = server.router?.as(HOST)
  const hosted = await Promise.all(services.flatMap((answered) => (host === undefined ? [] : [hostAt(host, answered)])))
  for (const { service, ...address } of services) {
    terminal.print(`${service} is answered by ${formatAddress(address)}`)
  }
  for (const name of asked.dialers) {
    const mayDial = dialedBy(name, network)
    terminal.print(
      await opening(
        controller,
        name,
        services.filter(({ service }) => mayDial(service)),
      ),
    )
  }
  return hosted
}

/** How an identity reaches its services: its invitation, unless it has enrolled, and the line for its machine. */
async function opening(controller: Controller, name: string, services: readonly AnsweredService[]): Promise<string> {
  const ports = services.map(({ service }, position) => `${service}:${FIRST_PORT + position}`)
  const line = `npx portcullis tunnel proxy --identity ${name}.json ${ports.join(' ')}`
  try {
    const { jwt, expiresAt } = await controller.invite(name)
    const code = await qrCode(jwt)
    const isShown = process.stdout.isTTY && process.stdout.columns >= code.indexOf('\n')
    return `
The invitation of ${name}, good once until ${expiresAt}:
${isShown ? `\n${code}\n` : ''}
${jwt}

On the machine of ${name}; the command asks for the invitation:
  ${line}
Then ${services[0]?.service} is at http://127.0.0.1:${FIRST_PORT}/ there.
`
  } catch (error) {
    if (!(error instanceof ControllerError) || error.code !== 'ENROLLMENT_IDENTITY_ALREADY_ENROLLED') throw error
    return `${name} has enrolled. On its machine:\n  ${line}`
  }
}

/** A name of an argument. Throws {@link UsageError}. */
function plainName(argument: string, name: string): string {
  if (PLAIN_NAME.test(name)) return name
  throw new UsageError(
    `${argument}: a name has letters, digits, dots, hyphens and underscores, at most 63: not '${name}'`,
  )
}

function answeredService(operand: string): AnsweredService {
  const [, name, value] = /^([^=]*)=(.*)$/s.exec(operand) ?? []
  if (name === undefined || value === undefined) {
    throw new UsageError(`up takes SERVICE=HOST:PORT, such as payroll=127.0.0.1:3000: not '${operand}'`)
  }
  const service = plainName(operand, name)
  const address = readAddress({ name: operand, value }, 1)
  if (isWildcardHost(address.host)) throw new UsageError(`${operand}: ${address.host} is no address to connect to`)
  return { service, ...address }
}

function readSave({ options }: UpCall): string | undefined {
  const save = options.typed('save')
  if (save !== undefined && !/\.(ya?ml|json)$/i.test(save)) {
    throw new UsageError(`--save takes a file that ends in .yaml, .yml or .json, not '${save}'`)
  }
  requireFree(save, options.flag('force'))
  return save
}

/** Reports whether a folder has a network. Throws {@link UsageError} for a folder of something else, or of a part of a network. */
function requireOwn(folder: string): boolean {
  if (!existsSync(folder)) return false
  if (!statSync(folder).isDirectory()) throw new UsageError(`--folder: '${folder}' is a file`)
  const names = readdirSync(folder)
  if (names.length === 0) return false
  const isThere = (name: string) => names.includes(name)
  if (!isThere(STORAGE) && !isThere(PKI)) throw new UsageError(`--folder: '${folder}' holds other files and no network`)
  // New keys would lock out the devices of the network.
  if (!isThere(PKI))
    throw new UsageError(`--folder: '${folder}' holds a network whose certificates and keys are elsewhere`)
  return isThere(STORAGE)
}

const STORAGE = 'portcullis.sqlite'
const PKI = 'pki'

/** The address of the option, else of the server certificate that is there, else of this machine. */
function readAt(given: string | undefined, folder: string, isThere: boolean): Address {
  const { serverCertPem: file } = pkiFilesIn(join(folder, PKI))
  const facts = isThere && existsSync(file) ? serverCertificateFacts(readFileSync(file, 'utf8')) : undefined
  if (given === undefined) return { host: facts?.names[0] ?? ownHost(), port: DEFAULT_PORT }
  const at = readAddress({ name: '--at', value: given }, 0)
  if (isWildcardHost(at.host)) throw new UsageError(`--at takes an address that others connect to, not '${given}'`)
  if (facts === undefined || facts.covers(at.host)) return at
  throw new UsageError(`--at: the network in '${folder}' is for ${facts.names.join(', ')}, not for ${at.host}`)
}

function ownHost(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((found) => found ?? [])
  return addresses.find(({ address, internal }) => !internal && isIPv4(address))?.address ?? 'localhost'
}

async function serving(folder: string, at: Address): Promise<ServedController> {
  try {
    return await started(serveOptions(folder, at), false)
  } catch (error) {
    // It is said of the option that this command has.
    if (!(error instanceof UsageError)) throw error
    throw new UsageError(error.message.replace(/--(?:listen|advertise) \S+?:(?=\d+)/, `--at ${at.host}:`), {
      cause: error,
    })
  }
}

/** The options for `portcullis serve`. Its variables of the environment do not count. */
function serveOptions(folder: string, at: Address) {
  const isOwn = at.host === 'localhost' || at.host === '::1' || at.host.startsWith('127.')
  const where = isOwn
    ? ['--listen', formatAddress(at)]
    : ['--listen', formatAddress({ ...at, host: isIPv6(at.host) ? '::' : '0.0.0.0' }), '--advertise', formatAddress(at)]
  const stored = ['--storage', `sqlite:${join(folder, STORAGE)}`, '--pki', join(folder, PKI)]
  const context = { command: 'up', takesOperands: false }
  const { options } = readArguments(SERVE_OPTIONS, ['--router', ...where, ...stored], {}, context)
  return readServeOptions(options, {})
}
