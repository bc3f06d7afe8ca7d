import { type InvitingEngine, inviteIdentity, inviteRouter } from '../../../../src/api-calls.ts'
import type { ApiClient, ManagementApi } from '../../../../src/client/index.ts'
import { ControllerError, type Invitation, type RouterInvitation } from '../../../../src/index.ts'
import { writeDurably, writeNewDurably } from '../../../network/enrollment/index.ts'
import { parseAddress } from '../../../web/node/index.ts'
import { type Answer, type CommandCall, defineCommand } from '../command-line/command.ts'
import { UsageError } from '../command-line/usage.ts'
import { CONNECTION_DETAILS, CONNECTION_OPTIONS, withConnection } from '../connection/connect.ts'
import { requireFree, withoutMistakes } from './model/model-files.ts'

/** The options of `portcullis invite`. */
export const INVITE_OPTIONS = {
  ...CONNECTION_OPTIONS,
  router: { summary: 'invite an edge router instead of an identity' },
  attributes: { value: 'NAMES', summary: 'its role attributes, with commas between; added to its present ones' },
  type: {
    value: 'Device|User|Service',
    choices: ['Device', 'User', 'Service'],
    summary: 'of a new identity; default Device',
  },
  admin: { summary: 'make a new identity an admin' },
  tunneler: { summary: 'let the router host and dial for its own host' },
  again: { summary: 'invite an enrolled identity to enroll anew' },
  out: { value: 'FILE', summary: 'where the enrollment token goes; default: standard output' },
  qr: { summary: 'show the token as a QR code, for a phone' },
  config: { value: 'FILE', summary: "where the router's configuration goes, in the form of deployed routers" },
  advertise: {
    value: 'HOST:PORT',
    summary: 'where clients reach the router, for --config; default: its name, port 3022',
  },
  force: { summary: 'write over files that are there' },
} as const

/** `portcullis invite`. */
export const INVITE = defineCommand({
  operands: 'NAME',
  options: INVITE_OPTIONS,
  hasJson: true,
  details: `Makes the identity or the edge router of that name unless there is one, and gives out its one-time token (JWT). One that has
not enrolled yet is invited again: a token that is still good is given out once more, one that has run out is renewed. One that
has enrolled is left alone, unless --again says that it is to enroll anew, for example after a change of the root which its
program cannot follow: what an identity holds stays good until it ends; the certificate of a router is void at once. ${CONNECTION_DETAILS}`,
  examples: [
    'portcullis invite laptop --attributes staff,sales --out laptop.jwt',
    'portcullis invite phone --qr',
    'portcullis invite laptop --again --out laptop.jwt',
    'portcullis invite r1 --router --advertise r1.example.org:3022 --out r1.jwt --config r1.yml',
  ],
  run: invite,
})

type InviteCall = CommandCall<keyof typeof INVITE_OPTIONS>
type Management = ApiClient<ManagementApi>

/** Makes the invited identity or router unless it exists, and gives out its enrollment token. Throws {@link UsageError}. */
async function invite(call: InviteCall): Promise<Answer> {
  const { options, operands } = call
  const [name, ...others] = operands
  if (name === undefined || others.length > 0) throw new UsageError('invite takes one name: portcullis invite laptop')
  refuseUnfitting(call)
  const [out, config] = [options.typed('out'), options.typed('config')]
  requireFree(out, options.flag('force'))
  requireFree(config, options.flag('force'))
  const advertise = config === undefined ? undefined : advertised(options.typed('advertise') ?? `${name}:3022`)
  const invited = await withConnection(call, ({ management }) => invitationOf(management, call, name, advertise))
  if (config !== undefined) await writeNew(config, invited.config ?? '', call)
  if (out !== undefined) await writeNew(out, invited.jwt, call)
  const shown = options.flag('qr') ? await qrCode(invited.jwt) : invited.jwt
  const text = out === undefined || options.flag('qr') ? shown : ''
  call.terminal.tell(`${name} may enroll until ${invited.expiresAt}${nextStep(call, out, config)}`)
  return { text, value: invited }
}

/** Options of the other kind of invitation are refused, not ignored. */
function refuseUnfitting({ options }: InviteCall): void {
  const isRouter = options.flag('router')
  const flags = isRouter ? (['admin'] as const) : (['tunneler'] as const)
  const values = isRouter ? (['type'] as const) : (['config', 'advertise'] as const)
  const wrong = flags.find((flag) => options.flag(flag)) ?? values.find((name) => options.typed(name) !== undefined)
  if (wrong !== undefined)
    throw new UsageError(`--${wrong} is for ${isRouter ? 'identities' : 'routers: add --router'}`)
  if (options.typed('advertise') !== undefined && options.typed('config') === undefined) {
    throw new UsageError('--advertise is for the configuration: add --config FILE')
  }
  const type = options.typed('type')
  if (type !== undefined && !['Device', 'User', 'Service'].includes(type)) {
    throw new UsageError(`--type takes Device, User or Service, not '${type}'`)
  }
}

/** The engine of an invitation, over the API of the controller that the command calls. */
function engineOver(management: Management): InvitingEngine {
  return {
    identities: {
      list: async (query) => ({ items: (await management.call('GET /identities', { query })).data }),
      get: async (id) => (await management.call('GET /identities/{id}', { params: { id } })).data,
      create: async (body) => (await management.call('POST /identities', { body })).data,
      patch: (id, body) => management.call('PATCH /identities/{id}', { params: { id }, body }),
    },
    edgeRouters: {
      list: async (query) => ({ items: (await management.call('GET /edge-routers', { query })).data }),
      get: async (id) => (await management.call('GET /edge-routers/{id}', { params: { id } })).data,
      create: async (body) => (await management.call('POST /edge-routers', { body })).data,
      patch: (id, body) => management.call('PATCH /edge-routers/{id}', { params: { id }, body }),
      reEnroll: async (id) => {
        await management.call('POST /edge-routers/{id}/re-enroll', { params: { id } })
      },
    },
    enrollments: {
      create: (body) => management.call('POST /enrollments', { body }),
      refresh: async (id, body) => {
        await management.call('POST /enrollments/{id}/refresh', { params: { id }, body })
      },
    },
  }
}

/** Gives out the invitation that the options describe. Throws {@link UsageError} for an identity that has enrolled. */
async function invitationOf(
  management: Management,
  { options }: InviteCall,
  name: string,
  advertise: string | undefined,
): Promise<Invitation & Pick<RouterInvitation, 'config'>> {
  const engine = engineOver(management)
  const again = options.flag('again')
  const roleAttributes = attributesOf(options.typed('attributes'))
  try {
    if (options.flag('router')) {
      const isTunnelerEnabled = options.flag('tunneler')
      const asked = { roleAttributes, isTunnelerEnabled, again, ...(advertise !== undefined && { advertise }) }
      return await inviteRouter(engine, name, Date.now(), asked)
    }
    const type = (options.typed('type') ?? 'Device') as 'Device' | 'User' | 'Service'
    const isAdmin = options.flag('admin')
    return await inviteIdentity(engine, name, Date.now(), { roleAttributes, type, isAdmin, again })
  } catch (error) {
    if (error instanceof ControllerError) throw new UsageError(error.message, { cause: error })
    throw error
  }
}

/** The address of an option. Throws {@link UsageError} for an invalid address. */
function advertised(given: string): string {
  if (parseAddress(given) !== undefined) return given
  throw new UsageError(`--advertise takes HOST:PORT, not '${given}'`)
}

function attributesOf(text: string | undefined): string[] {
  return (text ?? '').split(',').flatMap((name) => name.trim().replace(/^#/, '') || [])
}

/** Writes a file for its owner alone: anybody who has a token can enroll with it. Throws {@link UsageError}. */
async function writeNew(file: string, text: string, { options, terminal }: InviteCall): Promise<void> {
  // A file that came meanwhile is not replaced unless the caller means it.
  const write = options.flag('force') ? writeDurably : writeNewDurably
  try {
    await withoutMistakes(() => write(file, text))
  } catch (error) {
    terminal.tell('the invitation is good all the same: portcullis invite gives its token out again')
    throw error
  }
  terminal.tell(`wrote ${file}`)
}

/** A QR code of blocks, dark on light, with the margin that cameras need. */
export async function qrCode(text: string): Promise<string> {
  const { renderUnicodeCompact } = await import('uqr')
  return renderUnicodeCompact(text, { border: 2 })
}

function nextStep({ options }: InviteCall, out: string | undefined, config: string | undefined): string {
  if (out === undefined) return ''
  if (config !== undefined) return `: ziti router enroll ${config} --jwt ${out}, or portcullis router enroll ${out}`
  return options.flag('router')
    ? `: portcullis router enroll ${out}`
    : `: portcullis tunnel enroll ${out}, or ziti edge enroll ${out}`
}
