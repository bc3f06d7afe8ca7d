import { setTimeout as sleep } from 'node:timers/promises'
import { decodeJwt } from 'jose'
import { routerSide } from 'portcullis/fabric'
import { addressOf, type Held, KINDS, type Kind, namingIdentity } from './holdings.ts'
import type { Judge } from './oracle.ts'
import type { Scene } from './scene.ts'
import { type Asking, PROCESSES, type ProcessName } from './two-processes.ts'

const { HEADER } = routerSide
const CLIENT_API = '/edge/client/v1'
const MANAGEMENT_API = '/edge/management/v1'

/** A place where something is asked: with what, that `made` made, and which process `at` is. */
export interface Place {
  readonly scene: Scene
  readonly held: Held
  readonly made: ProcessName
  readonly at: ProcessName
}

/** A column of the table: a door at which something is asked that was derived from a login. */
export interface Column {
  readonly name: string
  /** Looked at without a request of the subject, asked as often as one likes, or used up by asking. */
  readonly how: 'looked at' | 'asked' | 'used up'
  /** Which process can be asked with what one made: the same, the other, or each. */
  readonly at: 'own' | 'other' | 'each'
  /** Asks; a refusal is false. */
  ask(place: Place): Promise<boolean>
  /** The verdict of the oracle; undefined where both are right. */
  expects(judge: Judge, made: ProcessName): boolean | undefined
  /** Only for ways that have it. */
  isThere?(held: Held): boolean
}

const tokenOf = ({ held }: Place, kind: Kind) => (kind === 'zt' ? held.zt : held.tokens.access)
const isLaid = (dialed: object) => 'circuitId' in dialed

async function isGood(place: Place, kind: Kind, path: string, more: Asking & { readonly method?: string } = {}) {
  const { scene, held, at } = place
  const { method = 'GET', ...asking } = more
  const beside = await scene.logins.beside(kind === 'bearer' ? held.tokens.access : undefined)
  const zt = kind === 'zt' ? { zt: held.zt } : {}
  return (await scene.process(at).ask(method, path, { ...beside, ...zt, ...asking })).status < 300
}

/** Events that show an ending by themselves. */
const LOOKED_AT: readonly Column[] = [
  ...KINDS.flatMap((kind): readonly Column[] => [
    {
      name: `running circuit that it dialed (${kind})`,
      how: 'looked at',
      at: 'own',
      ask: (place) => runs(place, place.held.circuits[kind]),
      expects: (judge, made) => judge.dialsOn(kind, made),
    },
    {
      name: `running circuit to what it hosts (${kind})`,
      how: 'looked at',
      at: 'own',
      ask: (place) => runs(place, place.held.hostedCircuits[kind]),
      expects: (judge, made) => judge.hostsOn(kind, made),
    },
    {
      name: `terminator listed (${kind})`,
      how: 'looked at',
      at: 'each',
      ask: async ({ scene, at, made }) => {
        const filter = encodeURIComponent(`address="${addressOf(scene, made, kind)}"`)
        return (await scene.process(at).told('GET', `/terminators?filter=${filter}`)).length > 0
      },
      expects: (judge, made) => judge.isListed(kind, made),
    },
  ]),
  {
    name: 'event stream',
    how: 'looked at',
    at: 'other',
    ask: async ({ held, scene }) => {
      // The token of a signer is verified on a thread of its own, by no clock of the test.
      const waits = scene.subject.way === 'signed' ? 40 : 0
      for (let wait = 0; wait < waits && !held.stream.isOver(); wait += 1) await sleep(5)
      return !held.stream.isOver()
    },
    expects: (judge, made) => judge.streamsOn(made),
  },
  {
    name: 'channel of an operator',
    how: 'looked at',
    at: 'each',
    ask: async ({ held, scene, at }) => {
      const waits = scene.subject.way === 'signed' ? 40 : 0
      for (let wait = 0; wait < waits && !held.operators[at].isOver(); wait += 1) await sleep(5)
      return !held.operators[at].isOver()
    },
    expects: (judge, made) => judge.operatesOn(made),
  },
  {
    name: 'session announced to a router',
    how: 'looked at',
    at: 'each',
    ask: async ({ scene, held, at }) => scene.r1(at).sessions.has(held.ztId),
    expects: (judge, made) => judge.isAnnounced(made),
  },
  {
    name: "token by a router's model",
    how: 'looked at',
    at: 'each',
    ask: async ({ scene, held, at }) => {
      const { jti, sub } = decodeJwt(held.tokens.access)
      const revoked = [jti, sub, held.tokensOf].some((id) => scene.r1(at).entities.has(`revocation ${id}`))
      return !revoked && isKnown(scene, at)
    },
    expects: (judge, made) => judge.isGoodByModel(made),
  },
  {
    name: "identity in a router's model",
    how: 'looked at',
    at: 'own',
    ask: async ({ scene, at }) => isKnown(scene, at),
    expects: (judge) => judge.isInModel(),
  },
  {
    name: "Dial policy in a router's model",
    how: 'looked at',
    at: 'own',
    ask: async ({ scene, at }) => isRelated(scene, at, scene.subject.dials),
    expects: (judge) => judge.isRelated('Dial'),
  },
  {
    name: "Bind policy in a router's model",
    how: 'looked at',
    at: 'own',
    ask: async ({ scene, at }) => isRelated(scene, at, scene.subject.hosts),
    expects: (judge) => judge.isRelated('Bind'),
  },
  {
    name: 'control channel of the router where circuits begin',
    how: 'looked at',
    at: 'own',
    ask: async ({ scene, at }) => scene.r1(at).isOpen,
    expects: (judge) => judge.isConnected('r1'),
  },
  {
    name: 'control channel of the router where they end',
    how: 'looked at',
    at: 'own',
    ask: async ({ scene, at }) => scene.r2(at).isOpen,
    expects: (judge) => judge.isConnected('r2'),
  },
]

/** Requests that are sent with a session. */
const ASKED: readonly Column[] = [
  ...KINDS.flatMap((kind): readonly Column[] => [
    {
      name: `client API (${kind})`,
      how: 'asked',
      at: 'each',
      ask: (place) => isGood(place, kind, `${CLIENT_API}/services?limit=1`),
      expects: (judge, made) => judge.acts(kind, made),
    },
    {
      name: `management API (${kind})`,
      how: 'asked',
      at: 'each',
      ask: (place) => isGood(place, kind, `${MANAGEMENT_API}/current-identity`),
      expects: (judge, made) => judge.acts(kind, made),
    },
    {
      name: `right of a delegate (${kind})`,
      how: 'asked',
      at: 'each',
      ask: (place) => isGood(place, kind, `${MANAGEMENT_API}/services?limit=1`),
      expects: (judge, made) => judge.manages(kind, made),
    },
    {
      name: `new channel of an operator (${kind})`,
      how: 'asked',
      at: 'each',
      ask: async (place) => {
        const { scene, held, at } = place
        const beside = await scene.logins.beside(kind === 'bearer' ? held.tokens.access : undefined)
        const channel = await scene.process(at).operate({ ...beside, ...(kind === 'zt' ? { zt: held.zt } : {}) })
        channel?.close()
        return channel !== undefined
      },
      expects: (judge, made) => judge.operates(kind, made),
    },
    {
      name: `service in the list of its identity (${kind})`,
      how: 'asked',
      at: 'each',
      ask: async (place) => {
        const { scene, held, at } = place
        const beside = await scene.logins.beside(kind === 'bearer' ? held.tokens.access : undefined)
        const zt = kind === 'zt' ? { zt: held.zt } : {}
        const { body } = await scene.process(at).ask('GET', `${CLIENT_API}/services?limit=500`, { ...beside, ...zt })
        const listed: readonly { readonly id: string }[] = body.data ?? []
        return listed.some(({ id }) => id === scene.subject.dials.serviceId)
      },
      expects: (judge, made) => judge.lists('Dial', kind, made),
    },
    {
      name: `router in the list of its identity (${kind})`,
      how: 'asked',
      at: 'each',
      ask: async (place) => {
        const { scene, held, at } = place
        const beside = await scene.logins.beside(kind === 'bearer' ? held.tokens.access : undefined)
        const zt = kind === 'zt' ? { zt: held.zt } : {}
        const asking = { ...beside, ...zt }
        const { body } = await scene.process(at).ask('GET', `${CLIENT_API}/current-identity/edge-routers`, asking)
        const listed: readonly { readonly name: string }[] = body.data ?? []
        return listed.some(({ name }) => name === 'r1')
      },
      expects: (judge, made) => judge.listsRouter('r1', kind, made),
    },
    {
      name: `new service session (${kind})`,
      how: 'asked',
      at: 'each',
      ask: (place) => {
        const json = { serviceId: place.scene.subject.dials.serviceId, type: 'Dial' }
        return isGood(place, kind, `${CLIENT_API}/sessions`, { method: 'POST', json })
      },
      expects: (judge, made) => judge.opens('Dial', kind, made),
    },
    {
      name: `dial by the message of body (${kind})`,
      how: 'asked',
      at: 'each',
      ask: async (place) =>
        isLaid(await place.scene.r1(place.at).dialByBody(place.held.dials[kind].token, tokenOf(place, kind))),
      expects: (judge, made) => judge.dials(kind, made),
    },
    {
      name: `dial by the message of headers (${kind})`,
      how: 'asked',
      at: 'each',
      ask: async (place) => {
        const session = { [HEADER.circuitSessionToken]: place.held.dials[kind].token }
        const presented = { ...session, [HEADER.circuitApiSessionToken]: tokenOf(place, kind) }
        return isLaid(await place.scene.r1(place.at).dialByHeaders(presented))
      },
      expects: (judge, made) => judge.dials(kind, made),
    },
    {
      name: `new terminator (${kind})`,
      how: 'asked',
      at: 'each',
      ask: async (place) => {
        const { scene, held, made, at } = place
        const address = `new-${made}-${at}-${kind}`
        return (await scene.r2(at).hostForSdk(address, held.binds[kind].token, tokenOf(place, kind))) === undefined
      },
      expects: (judge, made) => judge.hosts(kind, made),
    },
    {
      name: `dial of others to its terminator (${kind})`,
      how: 'asked',
      at: 'each',
      ask: async ({ scene, made, at }) =>
        isLaid(await scene.r1(at).dialForItself(scene.subject.hosts.name, addressOf(scene, made, kind))),
      expects: (judge, made) => judge.isDialed(kind, made),
    },
  ]),
  {
    name: 'service session shown',
    how: 'asked',
    at: 'each',
    ask: (place) => isGood(place, 'zt', `${CLIENT_API}/sessions/${place.held.dials.zt.id}`),
    expects: (judge, made) => judge.showsSession(made),
  },
  {
    name: 'dial by naming identity and service',
    how: 'asked',
    at: 'each',
    ask: async ({ scene, held, at }) =>
      isLaid(await scene.r1(at).dialByHeaders(namingIdentity(scene, held.tokens.access))),
    expects: (judge, made) => judge.dialsAnew('bearer', made),
  },
  {
    name: 'user info',
    how: 'asked',
    at: 'each',
    ask: (place) => isGood(place, 'bearer', '/oidc/userinfo'),
    expects: (judge, made) => judge.isTold(made),
  },
  {
    name: 'exchange of an access token',
    how: 'asked',
    at: 'each',
    ask: async ({ scene, held, at }) =>
      (await scene.logins.exchange(scene.process(at), held.tokens.access)) !== undefined,
    expects: (judge, made) => judge.exchanges(made),
  },
]

/** Tokens and codes that are good once. */
const USED_UP: readonly Column[] = [
  {
    name: 'refresh token',
    how: 'used up',
    at: 'other',
    ask: async ({ scene, held, at }) =>
      (await scene.logins.refresh(scene.process(at), held.tokens.refresh)) !== undefined,
    expects: (judge, made) => judge.refreshes(made),
  },
  {
    name: 'authorization code',
    how: 'used up',
    at: 'other',
    ask: async ({ scene, held, at }) =>
      (await scene.logins.redeem(scene.process(at), held.code, held.coded)) !== undefined,
    expects: (judge, made) => judge.completes(made),
  },
  {
    name: 'finished login without code',
    how: 'used up',
    at: 'other',
    ask: ({ scene, held, at }) => isCompleted(scene, at, held.ready),
    expects: (judge, made) => judge.completes(made),
  },
  {
    name: 'login with one of two factors',
    how: 'used up',
    at: 'other',
    isThere: ({ half }) => half !== undefined,
    ask: async ({ scene, held: { half }, at }) => {
      if (half === undefined || !(await scene.logins.passSecond(scene.process(at), half))) return false
      return isCompleted(scene, at, half)
    },
    expects: (judge, made) => judge.completes(made),
  },
  {
    name: 'session with one of two factors',
    how: 'used up',
    at: 'other',
    isThere: ({ halfZt }) => halfZt !== undefined,
    ask: async ({ scene, held: { halfZt: zt }, at }) => {
      const process = scene.process(at)
      if (zt === undefined || !(await scene.logins.second(process, zt))) return false
      return (await process.ask('GET', `${CLIENT_API}/services`, { zt })).status === 200
    },
    expects: (judge, made) => judge.completesSession(made),
  },
]

export const COLUMNS: readonly Column[] = [...LOOKED_AT, ...ASKED, ...USED_UP]

/** Which processes a column can be asked at with what one made. */
export function askedAt({ at }: Column, made: ProcessName): readonly ProcessName[] {
  return PROCESSES.filter((name) => at === 'each' || (at === 'own') === (name === made))
}

async function runs({ scene, made }: Place, circuitId: string): Promise<boolean> {
  if (scene.r1(made).unrouted.has(circuitId)) return false
  const circuits: readonly { readonly id: string }[] = await scene
    .process(made)
    .told('GET', '/fabric/v1/circuits?limit=500')
  return circuits.some(({ id }) => id === circuitId)
}

function isKnown(scene: Scene, at: ProcessName): boolean {
  const { isModelWhole, entities } = scene.r1(at)
  const known = entities.get(`identity ${scene.subject.id}`)
  return isModelWhole && known !== undefined && known.disabled !== true
}

interface Use {
  readonly policyId: string
  readonly serviceId: string
}

function isRelated(scene: Scene, at: ProcessName, { policyId, serviceId }: Use): boolean {
  const { relations } = scene.r1(at)
  return (
    relations.has(`${policyId} identities ${scene.subject.id}`) && relations.has(`${policyId} services ${serviceId}`)
  )
}

async function isCompleted({ logins, process }: Scene, at: ProcessName, begun: Held['ready']): Promise<boolean> {
  const code = await logins.codeOf(process(at), begun)
  return code !== undefined && (await logins.redeem(process(at), code, begun)) !== undefined
}
