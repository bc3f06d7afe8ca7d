import { decodeJwt } from 'jose'
import { routerSide } from 'portcullis/fabric'
import type { Begun, Logins, Tokens } from './logins.ts'
import type { Dialed } from './router-ear.ts'
import { type Scene, settle } from './scene.ts'
import { type OpenOperator, otherThan, type ProcessName } from './two-processes.ts'

const { HEADER } = routerSide
const CLIENT_API = '/edge/client/v1'

/** An API session by `zt-session`, or one that is made of tokens. */
export type Kind = 'zt' | 'bearer'
export const KINDS: readonly Kind[] = ['zt', 'bearer']

interface ServiceSession {
  readonly id: string
  readonly token: string
}

/** Everything derived from logins at one process. */
export interface Held {
  readonly zt: string
  readonly ztId: string
  readonly tokens: Tokens
  /** The session of the tokens. */
  readonly tokensOf: string
  /** Logins under way: finished, with a code given out, and with one of two factors proved. */
  readonly ready: Begun
  readonly coded: Begun
  readonly code: string
  readonly half: Begun | undefined
  readonly halfZt: string | undefined
  readonly dials: Readonly<Record<Kind, ServiceSession>>
  readonly binds: Readonly<Record<Kind, ServiceSession>>
  /** Circuits that it dialed, and those of others to what it hosts. */
  readonly circuits: Readonly<Record<Kind, string>>
  readonly hostedCircuits: Readonly<Record<Kind, string>>
  /** A stream of events, from the other process. */
  readonly stream: { isOver(): boolean }
  /** Channels of operators at each process. */
  readonly operators: Readonly<Record<ProcessName, OpenOperator>>
}

/** The address, and the name, of what the subject hosts. */
export const addressOf = ({ subject }: Pick<Scene, 'subject'>, made: ProcessName, kind: Kind) =>
  `host-${subject.way}-${made}-${kind}`

/** The credentials of a client that dials without a service session. */
export const namingIdentity = ({ subject }: Pick<Scene, 'subject'>, access: string) => ({
  [HEADER.circuitApiSessionToken]: access,
  [HEADER.circuitIdentityId]: subject.id,
  [HEADER.circuitServiceId]: subject.dials.serviceId,
})

/** Derives everything that can be from logins of the subject at a process. */
export async function holdAt(scene: Scene, name: ProcessName): Promise<Held> {
  const { logins, subject } = scene
  const at = scene.process(name)
  const [r1, r2] = [scene.r1(name), scene.r2(name)]
  const { zt, tokens } = await loggedIn(logins, scene, name)
  const ready = await finished(logins, scene, name)
  const coded = await finished(logins, scene, name)
  const half = subject.way === 'totp' ? await logins.begin(at) : undefined
  if (half !== undefined) sure(await logins.passFirst(at, half), 'the first factor')

  const byKind = { zt: { zt, ...(await logins.beside()) }, bearer: await logins.beside(tokens.access) }
  const open = async (kind: Kind, type: 'Dial' | 'Bind'): Promise<ServiceSession> => {
    const { serviceId } = type === 'Dial' ? subject.dials : subject.hosts
    const { body } = await at.ask('POST', `${CLIENT_API}/sessions`, { ...byKind[kind], json: { serviceId, type } })
    return sure(body.data, `a session to ${type} by ${kind}`)
  }
  const dials = { zt: await open('zt', 'Dial'), bearer: await open('bearer', 'Dial') }
  const binds = { zt: await open('zt', 'Bind'), bearer: await open('bearer', 'Bind') }
  const host = async (kind: Kind, token: string) => {
    const refused = await r2.hostForSdk(addressOf(scene, name, kind), binds[kind].token, token)
    if (refused !== undefined) throw new Error(`hosting by ${kind}: ${refused}`)
  }
  await host('zt', zt)
  await host('bearer', tokens.access)
  const bySession = { [HEADER.circuitSessionToken]: dials.zt.token, [HEADER.circuitApiSessionToken]: zt }
  const toHosted = async (kind: Kind) => laid(await r1.dialForItself(subject.hosts.name, addressOf(scene, name, kind)))
  const shown = await at.ask('GET', `${CLIENT_API}/current-api-session`, byKind.zt)
  return {
    zt,
    ztId: shown.body.data.id,
    tokens,
    tokensOf: String(decodeJwt(tokens.access).z_asid),
    ready,
    coded,
    code: sure(await logins.codeOf(at, coded), 'a code'),
    half,
    halfZt: subject.way === 'totp' ? sure(await logins.first(at), 'half a session') : undefined,
    dials,
    binds,
    circuits: {
      zt: laid(await r1.dialByHeaders(bySession)),
      bearer: laid(await r1.dialByHeaders(namingIdentity(scene, tokens.access))),
    },
    hostedCircuits: { zt: await toHosted('zt'), bearer: await toHosted('bearer') },
    stream: await openStream(scene, otherThan(name), byKind.zt),
    operators: {
      A: sure(await scene.process('A').operate(byKind.zt), 'a channel of an operator at A'),
      B: sure(await scene.process('B').operate(byKind.zt), 'a channel of an operator at B'),
    },
  }
}

/** The holdings of somebody to whom nothing should happen. */
export interface SmallHolding {
  readonly zt: string
  readonly tokens: Tokens
  readonly circuit: string
}

export async function holdLittleAt(scene: Scene, name: ProcessName): Promise<SmallHolding> {
  const { zt, tokens } = await loggedIn(scene.logins, scene, name)
  return { zt, tokens, circuit: laid(await scene.r1(name).dialByHeaders(namingIdentity(scene, tokens.access))) }
}

async function loggedIn(logins: Logins, scene: Scene, name: ProcessName) {
  const at = scene.process(name)
  return { zt: sure(await logins.session(at), 'a session'), tokens: sure(await logins.tokens(at), 'tokens') }
}

/** A login under way that has proved everything. */
async function finished(logins: Logins, scene: Scene, name: ProcessName): Promise<Begun> {
  const at = scene.process(name)
  const begun = await logins.begin(at)
  sure(await logins.passFirst(at, begun), 'the first factor')
  sure(await logins.passSecond(at, begun), 'the second factor')
  return begun
}

interface Asking {
  readonly zt: string
  readonly bearers?: readonly string[]
}

async function openStream(scene: Scene, name: ProcessName, { zt, bearers = [] }: Asking) {
  const authorization = bearers.map((token) => `Bearer ${token}`).join(', ')
  const headers = { 'zt-session': zt, accept: 'text/event-stream', ...(authorization === '' ? {} : { authorization }) }
  const { status, body } = await scene.process(name).fetch('/portcullis/v1/events', { headers })
  sure(status === 200, 'a stream of events')
  const reader = body?.getReader()
  let isOver = false
  const read = async () => {
    while (!isOver) isOver = (await reader?.read())?.done ?? true
  }
  read().catch(() => {
    isOver = true
  })
  await settle()
  return { isOver: () => isOver }
}

function laid(dialed: Dialed): string {
  if ('refused' in dialed) throw new Error(`a circuit is not laid to begin with: ${dialed.refused}`)
  return dialed.circuitId
}

/** Answers a value that has to be there before anything ends. Throws where it is not. */
function sure<T>(value: T | undefined | false, what: string): T {
  if (value === undefined || value === false) throw new Error(`${what} is refused to begin with`)
  return value
}
