import { writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import type { ApiClient, ManagementApi } from '../../../src/client/index.ts'
import { type Address, formatAddress, parseAddress } from '../../node/index.ts'
import type { Answer, CommandCall } from '../command-line/command.ts'
import { UsageError } from '../command-line/usage.ts'
import { withConnection } from '../connection/connect.ts'
import type { INVITE_OPTIONS } from './invite-options.ts'
import { requireFree, withoutMistakes } from './model/model-files.ts'

type InviteCall = CommandCall<keyof typeof INVITE_OPTIONS>
type Management = ApiClient<ManagementApi>

/** Tokens are for their owner: whoever has one enrolls with it. */
const OWNER_ONLY = 0o600

/** Hours for which a renewed token is good. */
const RENEWED_FOR_HOURS = 24

/** An enrollment token of somebody who has not enrolled yet. */
interface Invited {
  readonly id: string
  readonly name: string
  readonly jwt: string
  /** RFC 3339. */
  readonly expiresAt: string
}

/** Makes who is invited, unless it is there, and gives out its enrollment token. Throws {@link UsageError}. */
export async function invite(call: InviteCall): Promise<Answer> {
  const { options, operands } = call
  const [name, ...others] = operands
  if (name === undefined || others.length > 0) throw new UsageError('invite takes one name: portcullis invite laptop')
  refuseUnfitting(call)
  const [out, config] = [options.typed('out'), options.typed('config')]
  requireFree(out, options.flag('force'))
  requireFree(config, options.flag('force'))
  const settings = config === undefined ? '' : routerConfig(name, advertised(call, name))
  const invited = await withConnection(call, ({ management }) =>
    options.flag('router') ? inviteRouter(management, call, name) : inviteIdentity(management, call, name),
  )
  if (config !== undefined) await writeNew(config, settings, call)
  if (out !== undefined) await writeNew(out, invited.jwt, call)
  const shown = options.flag('qr') ? await qrCode(invited.jwt) : invited.jwt
  const text = out === undefined || options.flag('qr') ? shown : ''
  call.terminal.tell(`${name} may enroll until ${invited.expiresAt}${nextStep(call, out, config)}`)
  return { text, value: invited }
}

/** Options that the other kind of invitation knows are told, not passed over. */
function refuseUnfitting({ options }: InviteCall): void {
  const isRouter = options.flag('router')
  const flags = isRouter ? (['admin'] as const) : (['tunneler'] as const)
  const values = isRouter ? (['type'] as const) : (['config', 'advertise'] as const)
  const wrong = flags.find((flag) => options.flag(flag)) ?? values.find((name) => options.typed(name) !== undefined)
  if (wrong !== undefined)
    throw new UsageError(`--${wrong} is for ${isRouter ? 'identities' : 'routers: add --router'}`)
  const type = options.typed('type')
  if (type !== undefined && !['Device', 'User', 'Service'].includes(type)) {
    throw new UsageError(`--type takes Device, User or Service, not '${type}'`)
  }
}

async function inviteIdentity(management: Management, { options }: InviteCall, name: string): Promise<Invited> {
  const type = (options.typed('type') ?? 'Device') as 'Device' | 'User' | 'Service'
  const given = attributesOf(options.typed('attributes'))
  const query = { filter: `name = ${quoted(name)}` }
  const [known] = (await management.call('GET /identities', { query })).data
  const id =
    known?.id ??
    (
      await management.call('POST /identities', {
        body: { name, type, isAdmin: options.flag('admin'), roleAttributes: given, enrollment: { ott: true } },
      })
    ).data.id
  if (known !== undefined) {
    if (known.authenticators && Object.keys(known.authenticators).length > 0) throw enrolled(name)
    const body = { roleAttributes: together(known.roleAttributes, given) }
    if (given.length > 0) await management.call('PATCH /identities/{id}', { params: { id }, body })
  }
  const invitation = async () => (await management.call('GET /identities/{id}', { params: { id } })).data.enrollment.ott
  const ott = (await invitation()) ?? (await create(management, id).then(invitation))
  if (ott === undefined) throw enrolled(name)
  if (Date.parse(String(ott.expiresAt)) > Date.now()) {
    return { id, name, jwt: ott.jwt, expiresAt: new Date(ott.expiresAt).toISOString() }
  }
  await management.call('POST /enrollments/{id}/refresh', {
    params: { id: ott.id },
    body: { expiresAt: renewedUntil() },
  })
  const renewed = (await invitation()) ?? ott
  return { id, name, jwt: renewed.jwt, expiresAt: new Date(renewed.expiresAt).toISOString() }
}

async function create(management: Management, identityId: string): Promise<void> {
  await management.call('POST /enrollments', { body: { identityId, method: 'ott', expiresAt: renewedUntil() } })
}

async function inviteRouter(management: Management, { options }: InviteCall, name: string): Promise<Invited> {
  const given = attributesOf(options.typed('attributes'))
  const query = { filter: `name = ${quoted(name)}` }
  const [known] = (await management.call('GET /edge-routers', { query })).data
  const id =
    known?.id ??
    (
      await management.call('POST /edge-routers', {
        body: { name, roleAttributes: given, isTunnelerEnabled: options.flag('tunneler') },
      })
    ).data.id
  if (known?.isVerified) throw enrolled(name)
  if (known !== undefined && given.length > 0) {
    const body = { roleAttributes: together(known.roleAttributes, given) }
    await management.call('PATCH /edge-routers/{id}', { params: { id }, body })
  }
  const shown = async () => (await management.call('GET /edge-routers/{id}', { params: { id } })).data
  let router = await shown()
  if (Date.parse(String(router.enrollmentExpiresAt)) <= Date.now()) {
    await management.call('POST /edge-routers/{id}/re-enroll', { params: { id } })
    router = await shown()
  }
  const { enrollmentJwt, enrollmentExpiresAt } = router
  if (!enrollmentJwt || !enrollmentExpiresAt) throw enrolled(name)
  return { id, name, jwt: enrollmentJwt, expiresAt: new Date(enrollmentExpiresAt).toISOString() }
}

function enrolled(name: string): UsageError {
  return new UsageError(`${name} has enrolled already: delete it to invite it anew`)
}

function renewedUntil(): string {
  return new Date(Date.now() + RENEWED_FOR_HOURS * 3_600_000).toISOString()
}

function attributesOf(text: string | undefined): string[] {
  return (text ?? '').split(',').flatMap((name) => name.trim().replace(/^#/, '') || [])
}

function together(present: readonly string[] | null | undefined, given: readonly string[]): string[] {
  return [...new Set([...(present ?? []), ...given])]
}

function quoted(name: string): string {
  return JSON.stringify(name)
}

function advertised({ options }: InviteCall, name: string): Address {
  const given = options.typed('advertise')
  const address = parseAddress(given ?? `${name}:3022`)
  if (address !== undefined) return address
  throw new UsageError(`--advertise takes HOST:PORT, not '${given ?? name}'`)
}

/** The configuration of a deployed router; its controllers stand in the enrollment token. */
function routerConfig(name: string, address: Address): string {
  const san = `${isIP(address.host) === 0 ? 'dns' : 'ip'}: [${JSON.stringify(address.host)}]`
  const file = name.replaceAll(/[^\w.-]/g, '_')
  return `# ziti router enroll ${file}.yml --jwt ${file}.jwt, then ziti router run ${file}.yml
v: 3
identity:
  cert: ${file}.cert.pem
  server_cert: ${file}.server.cert.pem
  key: ${file}.key.pem
  ca: ${file}.ca.pem
ctrl:
  endpointsFile: ${file}.endpoints.yml
link:
  dialers:
    - binding: transport
listeners:
  - binding: edge
    address: tls:0.0.0.0:${address.port}
    options:
      advertise: ${JSON.stringify(formatAddress(address))}
edge:
  db: ${file}.model.gz
  csr:
    sans: { ${san} }
`
}

async function writeNew(file: string, text: string, { terminal }: InviteCall): Promise<void> {
  await withoutMistakes(() => writeFile(file, text, { mode: OWNER_ONLY }))
  terminal.tell(`wrote ${file}`)
}

/** A QR code of blocks, dark on light, with the margin that cameras need. */
async function qrCode(text: string): Promise<string> {
  const { renderUnicodeCompact } = await import('uqr')
  return renderUnicodeCompact(text, { border: 2 })
}

function nextStep({ options }: InviteCall, out: string | undefined, config: string | undefined): string {
  if (out === undefined) return ''
  if (config !== undefined) return `: ziti router enroll ${config} --jwt ${out}`
  return options.flag('router') ? `: portcullis router enroll ${out}` : `: ziti edge enroll ${out}`
}
