import type { Fetch } from '../../../../src/client/index.ts'
import { runtime } from '../../../../src/concurrency/process-runtime.ts'
import {
  type CircuitParties,
  circuitTokenIn,
  type DirectEnd,
  directOffer,
  directText,
  issuesCircuitTokens,
  lacksPeer,
  offersDirect,
} from '../../../../src/proved-ends.ts'
import type { Timer } from '../../channel/conversation.ts'
import { ConnectionFailure } from '../connection-failure.ts'
import type { ControllerSession } from '../controller-session.ts'
import type { HeldCertificate } from '../held-certificate.ts'
import type { Credentials } from '../identity-file.ts'
import { type ConnectionFacts, type ProvedPeer, ServiceConnection } from '../service-connection.ts'
import { CircuitTokens, type TrustedControllers } from './circuit-token.ts'
import { type DirectCredentials, directCredentials, proveEnds } from './tls-ends.ts'

/** The parts of an identity by which it proves itself. */
export interface ProvingIdentity {
  /** The key and certificate that it shows; undefined for an identity without a certificate. */
  credentials(): Credentials | undefined
  id(): Promise<string>
  /** The abilities of its controller, as `/version` names them. */
  capabilities(): Promise<readonly string[]>
  readonly controllers: TrustedControllers
  readonly timer: Timer
}

type Items = ReadonlyMap<number, Uint8Array>
type Side = Pick<DirectEnd, 'role' | 'circuitId'>

const NOT_CARRIED = 'the router takes no part: it carries nothing of it'
/** Milliseconds for which the abilities of a controller are kept. */
const KNOWN_MS = 60_000

/** An identity that proves itself to the other ends of its circuits, and has them prove themselves. */
export class DirectIdentity {
  readonly #identity: ProvingIdentity
  readonly #tokens: CircuitTokens
  #isAble: { readonly at: number; readonly answer: Promise<boolean> } | undefined

  constructor(identity: ProvingIdentity) {
    this.#identity = identity
    this.#tokens = new CircuitTokens(identity.controllers)
  }

  /**
   * How it takes part in a dial or a bind; undefined where it cannot and need not. Rejects with `NOT_PROVED` where it must, and it has no
   * certificate for it, or its controller takes no part.
   */
  async offer(serviceId: string, isRequired: boolean): Promise<DirectOffer | undefined> {
    const problem = await this.#problem(isRequired)
    if (problem === undefined) return new DirectOffer(this, serviceId, isRequired)
    if (isRequired) throw new ConnectionFailure('NOT_PROVED', directText(problem))
    return undefined
  }

  /** The credentials that it shows now. Throws `NOT_PROVED`. */
  credentials(): DirectCredentials {
    const own = this.#own()
    if (typeof own === 'string') throw new ConnectionFailure('NOT_PROVED', directText(own))
    return own
  }

  async parties(items: Items, side: Omit<DirectEnd, 'identityId'>): Promise<CircuitParties | string> {
    return this.#tokens.parties(items, { ...side, identityId: await this.#identity.id() })
  }

  get timer(): Timer {
    return this.#identity.timer
  }

  async #problem(asksController: boolean): Promise<string | undefined> {
    const own = this.#own()
    if (typeof own === 'string') return own
    return asksController && !(await this.#controllerTakesPart()) ? 'the controller takes no part' : undefined
  }

  #own(): DirectCredentials | string {
    const shown = this.#identity.credentials()
    return shown === undefined ? 'this identity has no certificate' : directCredentials(shown)
  }

  #controllerTakesPart(): Promise<boolean> {
    const known = this.#isAble
    if (known !== undefined && runtime.monotonic() - known.at < KNOWN_MS) return known.answer
    const answer = this.#identity.capabilities().then(issuesCircuitTokens)
    this.#isAble = { at: runtime.monotonic(), answer }
    const forget = () => {
      if (this.#isAble?.answer === answer) this.#isAble = undefined
    }
    // A later version of the controller may take part.
    answer.then((isAble) => isAble || forget(), forget)
    return answer
  }
}

/** How an identity takes part in one dial, or in the dials to a service that it hosts. */
export class DirectOffer {
  readonly isRequired: boolean
  /** The items by which it says so to the other end. */
  readonly headers = [directOffer()]
  readonly #identity: DirectIdentity
  readonly #serviceId: string

  constructor(identity: DirectIdentity, serviceId: string, isRequired: boolean) {
    this.#identity = identity
    this.#serviceId = serviceId
    this.isRequired = isRequired
  }

  /** The failure of a dial that must be proved: a controller that misses a key has not got the offer, as its router does not carry it. */
  refusal(refusal: ConnectionFailure): ConnectionFailure {
    if (!this.isRequired || refusal.code !== 'NO_PEER_KEY') return refusal
    return new ConnectionFailure('NOT_PROVED', directText(NOT_CARRIED), { cause: refusal })
  }

  /**
   * The parties of a circuit whose ends both take part, by the items that this end got; undefined where they do not and need not. Rejects
   * with `NOT_PROVED` that names the side that takes no part, and for a token that does not hold: a side that takes part once is never passed
   * over in silence.
   */
  async agreed(items: Items, side: Side): Promise<AgreedEnds | undefined> {
    if (!offersDirect(items) || circuitTokenIn(items) === undefined) {
      if (!this.isRequired) return undefined
      const other = side.role === 'dialer' ? 'host' : 'dialer'
      const lacking = lacksPeer(items) ? `the ${other} takes no part` : NOT_CARRIED
      throw new ConnectionFailure('NOT_PROVED', directText(lacking))
    }
    const parties = await this.#identity.parties(items, { ...side, serviceId: this.#serviceId })
    if (typeof parties === 'string') throw new ConnectionFailure('NOT_PROVED', directText(parties))
    return new AgreedEnds(this.#identity, side, parties)
  }
}

/** The two ends of a circuit, before they have proved themselves. */
export class AgreedEnds {
  readonly parties: CircuitParties
  readonly #identity: DirectIdentity
  readonly #side: Side

  constructor(identity: DirectIdentity, side: Side, parties: CircuitParties) {
    this.#identity = identity
    this.#side = side
    this.parties = parties
  }

  /** The dialer, as its controller names it. */
  get caller(): ProvedPeer {
    const { id, name } = this.parties.dialer
    return { id, name }
  }

  /** The connection over `carrier` whose ends have proved themselves. Rejects with `NOT_PROVED`, and ends the carrier. */
  async prove(carrier: ServiceConnection, facts: ConnectionFacts): Promise<ServiceConnection> {
    const { role, circuitId } = this.#side
    const peer = this.parties[role === 'dialer' ? 'host' : 'dialer']
    const { timer } = this.#identity
    try {
      const line = await proveEnds(carrier, this.#identity.credentials(), { role, circuitId, peer }, timer)
      const connection = new ServiceConnection(line, facts.service)
      connection.begin({ ...facts, isEncrypted: true, provedPeer: { id: peer.id, name: peer.name } }, undefined)
      line.begin(connection)
      return connection
    } catch (cause) {
      carrier.destroy()
      if (cause instanceof ConnectionFailure) throw cause
      const told = cause instanceof Error ? cause.message : String(cause)
      throw new ConnectionFailure('NOT_PROVED', directText(`${peer.name} did not prove itself: ${told}`), { cause })
    }
  }
}

/** The parts of an open identity by which it proves itself. */
export interface ProvingParts {
  readonly certificate: HeldCertificate | undefined
  readonly controllers: readonly string[]
  readonly session: ControllerSession
  readonly timer: Timer
  readonly fetch: Fetch
  whoAmI(): Promise<{ readonly id: string }>
}

/** An open identity as it proves itself. */
export function provingIdentity(parts: ProvingParts): DirectIdentity {
  const { certificate, controllers, fetch, session, timer, whoAmI } = parts
  return new DirectIdentity({
    timer,
    credentials: () => certificate?.shown,
    id: async () => (await whoAmI()).id,
    capabilities: async () =>
      (await session.call('version', (api) => api.call('GET /version'))).data.capabilities ?? [],
    controllers: {
      // Each controller names the others, and the address by which it signs.
      knows: async (origin) => controllers.includes(origin) || (await namedBy(session)).includes(origin),
      read: async (url) => (await fetch(new Request(url))).json(),
    },
  })
}

/** The origins of the controllers of the network, as the controller of a session names them. */
async function namedBy(session: ControllerSession): Promise<readonly string[]> {
  const { data } = await session.call('controllers', (api) => api.call('GET /controllers'))
  const urls = data.flatMap(({ apiAddresses }) => Object.values(apiAddresses ?? {}).flat())
  return urls.flatMap(({ url }) => (URL.canParse(url) ? [new URL(url).origin] : []))
}
