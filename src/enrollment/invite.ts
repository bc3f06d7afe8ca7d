import { hostOf, requireAddress } from '../base/addresses.ts'
import { checkArgument, checkOptions, type OptionRules } from '../base/arguments.ts'
import { ControllerError } from '../base/errors.ts'
import type { EdgeRouter, EdgeRouterCreate, Identity, IdentityCreate } from '../facts/resources/wire-names.ts'

/** An enrollment token of a device or router that has not enrolled yet. */
export interface Invitation {
  /** The id of the identity or the router. */
  readonly id: string
  readonly name: string
  /** The one-time token, a secret of the device that is to enroll. */
  readonly jwt: string
  /** RFC 3339. */
  readonly expiresAt: string
}

/** The invitation of a router. */
export interface RouterInvitation extends Invitation {
  /** The configuration that deployed routers read, YAML, where it was said how the router is reached. It holds no secret. */
  readonly config?: string
}

/** Properties of an identity that the invitation makes. */
export interface IdentityInvitationOptions {
  /** Added to those of an existing identity. */
  readonly roleAttributes?: readonly string[]
  /** Of a new identity. Default: `Device`. */
  readonly type?: 'Device' | 'User' | 'Service'
  /** Makes a new identity an admin. Default: false. */
  readonly isAdmin?: boolean
  /**
   * Invites an enrolled identity to enroll anew: its credentials stay valid beside the new certificate until they end,
   * or until their authenticator is deleted. Default: false.
   */
  readonly again?: boolean
}

/** Properties of an edge router that the invitation makes. */
export interface RouterInvitationOptions {
  /** Added to those of an existing router. */
  readonly roleAttributes?: readonly string[]
  /** Lets a new router host and dial for its own host. Default: false. */
  readonly isTunnelerEnabled?: boolean
  /** Invites an enrolled router to enroll anew: its certificate is void at once, and its control channel ends. Default: false. */
  readonly again?: boolean
  /** `HOST:PORT` under which clients reach it: a configuration is answered then. */
  readonly advertise?: string
}

const IDENTITY_OPTIONS: OptionRules<IdentityInvitationOptions> = {
  roleAttributes: 'array',
  type: { oneOf: ['Device', 'User', 'Service'] },
  isAdmin: 'boolean',
  again: 'boolean',
}

const ROUTER_OPTIONS: OptionRules<RouterInvitationOptions> = {
  roleAttributes: 'array',
  isTunnelerEnabled: 'boolean',
  again: 'boolean',
  advertise: 'string',
}

interface Invited<Shown, Create> {
  list(question: { readonly filter: string }): Promise<{ readonly items: readonly Shown[] }>
  get(id: string): Promise<Shown>
  create(request: Create): Promise<{ readonly id: string }>
  patch(id: string, request: { readonly roleAttributes: string[] }): Promise<unknown>
}

/** The operations that an invitation takes, with the rights of its caller: an engine in a call, or the API of a controller elsewhere. */
export interface InvitingEngine {
  readonly identities: Invited<Identity, IdentityCreate>
  readonly edgeRouters: Invited<EdgeRouter, EdgeRouterCreate> & { reEnroll(id: string): Promise<void> }
  readonly enrollments: {
    create(request: { readonly identityId: string; readonly method: 'ott' }): Promise<unknown>
    refresh(id: string, request: Readonly<Record<string, never>>): Promise<void>
  }
}

/**
 * Makes an identity with a name unless it exists, and answers its one-time token: the current token while it is valid
 * at `now` (epoch milliseconds), or a new one.
 *
 * @throws {ControllerError} ENROLLMENT_IDENTITY_ALREADY_ENROLLED when it has enrolled and `again` is not true.
 * @throws {ControllerError} UNAUTHORIZED, COULD_NOT_VALIDATE as the operations that it takes.
 */
export async function inviteIdentity(
  engine: InvitingEngine,
  name: string,
  now: number,
  options: IdentityInvitationOptions = {},
): Promise<Invitation> {
  checkArgument('invite', 'name', name, { shape: 'string', isNeeded: true })
  checkOptions('invite', options, IDENTITY_OPTIONS)
  const { roleAttributes = [], type = 'Device', isAdmin = false, again = false } = options
  const [known] = (await engine.identities.list({ filter: named(name) })).items
  const enrollment = { ott: true }
  const created = { name, type, isAdmin, roleAttributes: [...roleAttributes], enrollment }
  const id = known?.id ?? (await engine.identities.create(created)).id
  if (known !== undefined) {
    if (!again && Object.keys(known.authenticators ?? {}).length > 0) throw hasEnrolled(name)
    await addAttributes(engine.identities, known, roleAttributes)
  }
  const invitation = async () => (await engine.identities.get(id)).enrollment.ott
  let ott = await invitation()
  if (ott === undefined) {
    await engine.enrollments.create({ identityId: id, method: 'ott' })
    ott = await invitation()
  } else if (Date.parse(String(ott.expiresAt)) <= now) {
    await engine.enrollments.refresh(ott.id, {})
    ott = await invitation()
  }
  if (ott === undefined) throw hasEnrolled(name)
  return { id, name, jwt: ott.jwt, expiresAt: new Date(ott.expiresAt).toISOString() }
}

/**
 * Makes an edge router with a name unless it exists, and answers its one-time token: the current token while it is
 * valid at `now` (epoch milliseconds), or a new one.
 *
 * @throws {ControllerError} ENROLLMENT_IDENTITY_ALREADY_ENROLLED when it has enrolled and `again` is not true.
 * @throws {ControllerError} UNAUTHORIZED, COULD_NOT_VALIDATE as the operations that it takes.
 */
export async function inviteRouter(
  engine: InvitingEngine,
  name: string,
  now: number,
  options: RouterInvitationOptions = {},
): Promise<RouterInvitation> {
  checkArgument('inviteRouter', 'name', name, { shape: 'string', isNeeded: true })
  checkOptions('inviteRouter', options, ROUTER_OPTIONS)
  const { roleAttributes = [], isTunnelerEnabled = false, again = false } = options
  const { advertise } = options
  const config = advertise === undefined ? {} : { config: routerConfiguration(name, advertise) }
  const [known] = (await engine.edgeRouters.list({ filter: named(name) })).items
  if (known?.isVerified && !again) throw hasEnrolled(name)
  const created = { name, roleAttributes: [...roleAttributes], isTunnelerEnabled }
  const id = known?.id ?? (await engine.edgeRouters.create(created)).id
  if (known !== undefined) await addAttributes(engine.edgeRouters, known, roleAttributes)
  let router = await engine.edgeRouters.get(id)
  if (router.isVerified || Date.parse(String(router.enrollmentExpiresAt)) <= now) {
    await engine.edgeRouters.reEnroll(id)
    router = await engine.edgeRouters.get(id)
  }
  const { enrollmentJwt: jwt, enrollmentExpiresAt } = router
  if (!jwt || !enrollmentExpiresAt) throw hasEnrolled(name)
  return { id, name, jwt, expiresAt: new Date(enrollmentExpiresAt).toISOString(), ...config }
}

async function addAttributes(
  entities: Pick<InvitingEngine['identities'], 'patch'>,
  { id, roleAttributes }: { readonly id: string; readonly roleAttributes: readonly string[] | null },
  added: readonly string[],
): Promise<void> {
  if (added.length === 0) return
  await entities.patch(id, { roleAttributes: [...new Set([...(roleAttributes ?? []), ...added])] })
}

function hasEnrolled(name: string): ControllerError {
  const message = `${name} has enrolled already: invite it again to let it enroll anew (again: true, or --again)`
  return new ControllerError('ENROLLMENT_IDENTITY_ALREADY_ENROLLED', { code: 'UNHANDLED', message })
}

function named(name: string): string {
  return `name = ${JSON.stringify(name)}`
}

/**
 * The configuration of a deployed router, YAML: it is reached at `address` (`HOST:PORT`) and listens on every interface. Its files stand
 * beside it, and its controllers stand in the enrollment token. Throws an `Error` for an invalid address.
 */
function routerConfiguration(name: string, address: string): string {
  const host = hostOf(requireAddress(address))
  const port = Number(address.slice(address.lastIndexOf(':') + 1))
  const isAddress = host.includes(':') || /^\d+(\.\d+){3}$/.test(host)
  const file = name.replaceAll(/[^\w.-]/g, '_')
  return `# ziti router enroll THIS_FILE --jwt TOKEN_FILE, then ziti router run THIS_FILE
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
    address: tls:0.0.0.0:${port}
    options:
      advertise: ${JSON.stringify(address)}
edge:
  db: ${file}.model.gz
  csr:
    sans: { ${isAddress ? 'ip' : 'dns'}: [${JSON.stringify(host)}] }
`
}
