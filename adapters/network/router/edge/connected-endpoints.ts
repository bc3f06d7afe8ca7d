import type { LoopTurns } from '../../../../src/concurrency/loop-turns.ts'
import { runtime } from '../../../../src/concurrency/process-runtime.ts'
import type { FromRouter } from '../../../../src/control-channel.ts'
import type { ChannelTrouble } from '../../channel/channel.ts'
import type { Frame } from '../../channel/frame.ts'
import type { ModelChange, RouterModel } from '../state/router-model.ts'
import { ToldSeldom } from '../state/told-seldom.ts'
import { mayStay } from './edge-admission.ts'
import type { EdgeChannel } from './edge-channel.ts'
import type { EdgePosture } from './edge-posture.ts'
import type { EdgeClient } from './endpoint.ts'

/** The parts of a router by which connected endpoints are judged and reported. */
interface EndpointsParts {
  readonly model: RouterModel
  readonly posture: EdgePosture
  /** Epoch ms. */
  readonly now: () => number
  readonly turns: Pick<LoopTurns, 'begin'>
  /** Sends a report to every controller that is connected. */
  report(message: FromRouter): void
  /** Tells the log of the router. */
  log(event: string, fields: Readonly<Record<string, string>>): void
}

/**
 * The endpoints that are connected to an edge router, by their channels. A channel ends with its session and its identity. Its connections
 * and hosted services end with their rights, if controllers leave that decision to the router. Arrivals and departures are reported to
 * controllers.
 */
export class ConnectedEndpoints {
  readonly #parts: EndpointsParts
  readonly #channels = new Set<EdgeChannel>()
  readonly #bySession = new Map<string, Set<EdgeChannel>>()
  readonly #byIdentity = new Map<string, Set<EdgeChannel>>()
  /** By the id of the access token that each showed last. */
  readonly #byToken = new Map<string, Set<EdgeChannel>>()
  /** Identities whose endpoints are still to be judged. */
  #toJudge: Set<string> | 'everything' | undefined
  #isJudging = false
  readonly #told = new ToldSeldom()

  constructor(parts: EndpointsParts) {
    this.#parts = parts
  }

  add(channel: EdgeChannel): void {
    const { id, identityId } = channel.client.session
    this.#channels.add(channel)
    include(this.#bySession, id, channel)
    include(this.#byIdentity, identityId, channel)
    include(this.#byToken, channel.client.issued.tokenId, channel)
    this.#reportOne(identityId)
  }

  remove(channel: EdgeChannel): void {
    const { id, identityId } = channel.client.session
    this.#channels.delete(channel)
    exclude(this.#bySession, id, channel)
    exclude(this.#byIdentity, identityId, channel)
    exclude(this.#byToken, channel.client.issued.tokenId, channel)
    if (!this.#bySession.has(id)) this.#parts.posture.forget(id)
    this.#reportOne(identityId)
  }

  /** An endpoint showed its next access token. */
  renewed(channel: EdgeChannel, before: EdgeClient): void {
    exclude(this.#byToken, before.issued.tokenId, channel)
    if (this.#channels.has(channel)) include(this.#byToken, channel.client.issued.tokenId, channel)
  }

  /** Takes the report of an endpoint, which counts for all of its channels. */
  async reported(reporter: EdgeChannel, message: Frame): Promise<void> {
    const { id, identityId } = reporter.client.session
    const taken = this.#parts.posture.take(reporter, message).catch((error: unknown) => {
      // As a malformed one: it changes nothing, and its endpoint is judged by what is known.
      this.#parts.log('posture.untaken', { identityId, error: String(error) })
    })
    if (this.#parts.posture.isBehind(id)) reporter.holdFor({ whenRoom: (work) => void taken.then(work) })
    await taken
    this.judgePosture(id)
  }

  /** The log is told of the endpoint, seldom: it may repeat its trouble, or connect again for it. */
  misbehaved({ client }: EdgeChannel, what: ChannelTrouble): void {
    const { identityId } = client.session
    if (!this.#told.isDue(identityId, what, this.#parts.now())) return
    this.#parts.log('endpoint.misbehaved', { identityId, what })
  }

  /** The posture of an API session may have changed. */
  judgePosture(sessionId: string): void {
    const channels = this.#bySession.get(sessionId)
    if (channels === undefined) this.#parts.posture.forget(sessionId)
    else for (const channel of [...channels]) this.#judgeOne(channel)
  }

  /** The model changed: channels end with the sessions, identities and tokens that let them in; lost rights are judged soon. */
  changed({ ended, rights }: ModelChange): void {
    if (ended !== 'everything') this.#letGo(this.#named(ended))
    this.#judgeSoon(ended === 'everything' ? ended : rights)
  }

  /** Sessions end by time as well: judges every endpoint. */
  judge(): void {
    this.#judgeSoon('everything')
  }

  /** Reports all that are connected. */
  report(): void {
    const identities = [...this.#byIdentity.keys()].map((identityId) => ({ identityId, connected: true }))
    this.#parts.report({ type: 'connect-events', full: true, identities })
  }

  /** The tokens of stored sessions, which last for as long as a controller hears of them. */
  storedTokens(): string[] {
    const stored = [...this.#channels].filter(({ client }) => !client.isBearer)
    return [...new Set(stored.map(({ client }) => client.token))]
  }

  /** Shows operators the connections of each identity. */
  identityConnections() {
    const shown = [...this.#byIdentity].map(([identityId, channels]) => {
      const connections = [...channels].map(({ client }) => ({
        id: client.session.id,
        closed: false,
        srcAddr: '',
        dstAddr: '',
      }))
      return [identityId, { unreported_count: 0, being_reported_count: 0, connections }] as const
    })
    return Object.fromEntries(shown)
  }

  /** Ends every channel. */
  end(): void {
    for (const channel of this.#channels) channel.end()
  }

  #letGo(channels: Iterable<EdgeChannel>): void {
    for (const channel of channels) if (!this.#mayStay(channel)) channel.end()
  }

  #mayStay({ client }: EdgeChannel): boolean {
    return mayStay(this.#parts.model, client, this.#parts.now())
  }

  /** The channels of sessions, identities and access tokens. */
  #named(ids: ReadonlySet<string>): readonly EdgeChannel[] {
    const indexes = [this.#bySession, this.#byIdentity, this.#byToken]
    return [...ids].flatMap((id) => indexes.flatMap((index) => [...(index.get(id) ?? [])]))
  }

  #reportOne(identityId: string): void {
    const connected = this.#byIdentity.has(identityId)
    this.#parts.report({ type: 'connect-events', full: false, identities: [{ identityId, connected }] })
  }

  /** Judges endpoints in a later turn, once for all changes until then. Their rights are judged where that is left to this router. */
  #judgeSoon(concerned: ReadonlySet<string> | 'everything'): void {
    if (concerned !== 'everything' && concerned.size === 0) return
    const before = this.#toJudge ?? []
    this.#toJudge =
      concerned === 'everything' || before === 'everything' ? 'everything' : new Set([...before, ...concerned])
    if (this.#isJudging) return
    this.#isJudging = true
    runtime.later(() => void this.#judgeAll())
  }

  /** A change may concern ten thousand endpoints: the traffic of others goes on between them. */
  async #judgeAll(): Promise<void> {
    const turn = this.#parts.turns.begin()
    for (let toJudge = this.#toJudge; toJudge !== undefined; toJudge = this.#toJudge) {
      this.#toJudge = undefined
      const channels =
        toJudge === 'everything' ? this.#channels : [...toJudge].flatMap((id) => [...(this.#byIdentity.get(id) ?? [])])
      for (const channel of [...channels]) {
        if (!this.#channels.has(channel)) continue
        this.#judgeOne(channel)
        await turn()
      }
    }
    this.#isJudging = false
  }

  /** An endpoint that cannot be judged has no rights, and ends: others are judged all the same. */
  #judgeOne(channel: EdgeChannel): void {
    try {
      if (this.#mayStay(channel)) channel.judge()
      else channel.end()
    } catch (error) {
      // Its client connects again, and is judged anew.
      this.#parts.log('endpoint.unjudged', { identityId: channel.client.session.identityId, error: String(error) })
      channel.end()
    }
  }
}

function include(index: Map<string, Set<EdgeChannel>>, key: string, channel: EdgeChannel): void {
  const channels = index.get(key)
  if (channels === undefined) index.set(key, new Set([channel]))
  else channels.add(channel)
}

function exclude(index: Map<string, Set<EdgeChannel>>, key: string, channel: EdgeChannel): void {
  const channels = index.get(key)
  if (channels?.delete(channel) && channels.size === 0) index.delete(key)
}
