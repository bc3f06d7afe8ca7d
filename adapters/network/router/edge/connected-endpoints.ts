import { grouped } from '../../../../src/base/collections.ts'
import type { FromRouter } from '../../../../src/facts/fabric/messages/index.ts'
import type { Frame } from '../../channel/frame.ts'
import type { RouterModel } from '../state/router-model.ts'
import { mayStay } from './edge-admission.ts'
import type { EdgeChannel } from './edge-channel.ts'
import type { EdgePosture } from './edge-posture.ts'

/** The parts of a router by which connected endpoints are judged and reported. */
interface EndpointsParts {
  readonly model: RouterModel
  readonly posture: EdgePosture
  /** Epoch ms. */
  readonly now: () => number
  /** Sends a report to every controller that is connected. */
  report(message: FromRouter): void
}

/**
 * The endpoints that are connected to an edge router, by their channels. A channel ends with the session and the identity that let it
 * in; what it dials and hosts ends with its rights, where controllers leave these to the router. Controllers hear who comes and goes.
 */
export class ConnectedEndpoints {
  readonly #parts: EndpointsParts
  readonly #channels = new Set<EdgeChannel>()
  #isJudging = false

  constructor(parts: EndpointsParts) {
    this.#parts = parts
  }

  add(channel: EdgeChannel): void {
    this.#channels.add(channel)
    this.#reportOne(channel.client.session.identityId)
  }

  remove(channel: EdgeChannel): void {
    this.#channels.delete(channel)
    const { id, identityId } = channel.client.session
    if (this.#ofSession(id).length === 0) this.#parts.posture.forget(id)
    this.#reportOne(identityId)
  }

  /** Takes the report of an endpoint, which counts for all of its channels. */
  async reported(reporter: EdgeChannel, message: Frame): Promise<void> {
    const { session } = reporter.client
    await this.#parts.posture.take(reporter.client, message)
    const channels = this.#ofSession(session.id)
    for (const channel of channels) channel.judge()
    if (channels.length === 0) this.#parts.posture.forget(session.id)
  }

  /** Sessions and identities may be over: who was let in by them is let go. */
  judge(): void {
    const now = this.#parts.now()
    for (const channel of this.#channels) {
      if (!mayStay(this.#parts.model, channel.client, now)) channel.end()
    }
    this.#judgeRightsSoon()
  }

  /** Reports all that are connected. */
  report(): void {
    const present = new Set([...this.#channels].map(({ client }) => client.session.identityId))
    const identities = [...present].map((identityId) => ({ identityId, connected: true }))
    this.#parts.report({ type: 'connect-events', full: true, identities })
  }

  /** The tokens of stored sessions, which last for as long as a controller hears of them. */
  storedTokens(): string[] {
    const stored = [...this.#channels].filter(({ client }) => !client.isBearer)
    return [...new Set(stored.map(({ client }) => client.token))]
  }

  /** Shows operators the connections of each identity. */
  identityConnections() {
    const byIdentity = grouped([...this.#channels], ({ client }) => client.session.identityId)
    const shown = [...byIdentity].map(([identityId, channels]) => {
      const connections = channels.map(({ client }) => ({
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

  #ofSession(id: string): EdgeChannel[] {
    return [...this.#channels].filter(({ client }) => client.session.id === id)
  }

  #reportOne(identityId: string): void {
    const connected = [...this.#channels].some(({ client }) => client.session.identityId === identityId)
    this.#parts.report({ type: 'connect-events', full: false, identities: [{ identityId, connected }] })
  }

  /** Of changes that come together the rights of endpoints are judged once, where that is left to this router. */
  #judgeRightsSoon(): void {
    if (!this.#parts.posture.isAsked || this.#isJudging) return
    this.#isJudging = true
    setImmediate(() => {
      this.#isJudging = false
      for (const channel of this.#channels) if (channel.client.isBearer) channel.judge()
    })
  }
}
