import type { EngineContext } from '../../context/context.ts'
import { authenticators } from '../../facts/credentials/authenticator.resource.ts'
import {
  circuitIssuer,
  circuitTokenClaims,
  type DirectParty,
  type DirectPolicy,
  directTerms,
  directText,
  offersDirect,
  withoutTerms,
} from '../../facts/data-plane/direct-e2ee.ts'
import { PEER_DATA } from '../../facts/data-plane/peer-data-keys.ts'
import type { PeerData } from '../../facts/fabric/messages/index.ts'
import { identities } from '../../facts/identities/identity.resource.ts'
import { equals } from '../../kernel/filter/index.ts'
import type { ReadTransaction } from '../../ports/record-storage.ts'
import type { DialRight } from './dial-rights.ts'
import { keyProblem, storedPeerData } from './peer-data.ts'
import type { Terminator } from './terminator-selection.ts'

type Service = Pick<DialRight['service'], 'id' | 'encryptionRequired'>

/** The two ends of a circuit that is to be laid. */
interface MetEnds {
  readonly circuitId: string
  readonly dial: DialRight
  readonly terminator: Terminator
  /** The items of the dialer. */
  readonly peerData: PeerData
}

/** The items for each end of a circuit. */
export interface DirectTerms {
  /** Whether both ends prove themselves to each other: they need no other encryption. */
  readonly isAgreed: boolean
  readonly forHost: PeerData
  readonly forDialer: PeerData
}

/** Lets the two ends of a circuit prove themselves to each other, where the network has it on. */
export class DirectCircuits {
  readonly #context: EngineContext
  readonly #policy: DirectPolicy

  constructor(context: EngineContext, policy: DirectPolicy) {
    this.#context = context
    this.#policy = policy
  }

  /** Why an end is refused that takes no part where the network demands it. */
  problem(end: 'dialer' | 'host', service: Service, peerData: PeerData): string | undefined {
    if (!this.#isDemanded(service) || offersDirect(peerData)) return undefined
    return directText(`the network demands it, and the ${end} takes no part`)
  }

  /** Why a dial is refused by its items: a dialer that takes part needs no key. */
  dialerProblem(service: Service, peerData: PeerData): string | undefined {
    if (offersDirect(peerData)) return undefined
    return this.problem('dialer', service, peerData) ?? keyProblem(service, peerData)
  }

  /** The terminators for a dial: where the network demands it, only the terminators whose hosts take part, if there is such a host. */
  fitting(service: Service, known: readonly Terminator[]): readonly Terminator[] {
    if (!this.#isDemanded(service)) return known
    const direct = known.filter((terminator) => offersDirect(storedPeerData(terminator)))
    return direct.length > 0 ? direct : known
  }

  /**
   * Finds whether both ends of a circuit take part, and signs its token then. A text says why they cannot meet; undefined where neither of
   * them takes part.
   */
  async meet({ circuitId, dial, terminator, peerData }: MetEnds): Promise<DirectTerms | string | undefined> {
    const { service } = dial
    const registered = storedPeerData(terminator)
    const [isDialer, isHost] = [offersDirect(peerData), offersDirect(registered)]
    const problem = this.problem('host', service, registered) ?? lonelyProblem(service, peerData, registered)
    if (problem !== undefined) return problem
    if (!isDialer && !isHost) return undefined
    const isAgreed = isDialer && isHost
    const token = isAgreed ? await this.#token(circuitId, dial, terminator) : undefined
    if (isAgreed && token === undefined) return directText('an identity of the circuit is gone')
    const terms = directTerms(token)
    return {
      isAgreed,
      forHost: new Map([...withoutTerms(peerData), ...(isHost ? terms : [])]),
      forDialer: new Map(isDialer ? terms : []),
    }
  }

  #isDemanded({ encryptionRequired }: Service): boolean {
    return encryptionRequired && this.#policy === 'directOnly'
  }

  async #token(circuitId: string, { claim, service }: DialRight, { hostId }: Terminator): Promise<string | undefined> {
    const { clock, settings, storage, tokens } = this.#context
    const [dialer, host] = await storage.read((tx) =>
      Promise.all([claim.identityId, hostId].map((id) => partyOf(tx, id))),
    )
    if (dialer === undefined || host === undefined) return undefined
    const parties = { circuitId, serviceId: service.id, dialer, host }
    return tokens.sign(circuitTokenClaims(circuitIssuer(settings.address), parties, clock.now()))
  }
}

async function partyOf(tx: ReadTransaction, id: string): Promise<DirectParty | undefined> {
  const identity = await tx.collection(identities).get(id)
  const { items } = await tx.collection(authenticators).find({ where: equals('identityId', id) })
  const fingerprints = items.flatMap(({ fingerprint, unverifiedFingerprint }) => [fingerprint, unverifiedFingerprint])
  return identity && { id, name: identity.name, fingerprints: fingerprints.filter((one) => one !== null) }
}

/** Why the ends of a circuit cannot meet: only one end takes part, and it takes nothing else, as it has sent no key. */
function lonelyProblem({ encryptionRequired }: Service, dialer: PeerData, host: PeerData): string | undefined {
  const [isDialer, isHost] = [offersDirect(dialer), offersDirect(host)]
  if (!encryptionRequired || isDialer === isHost) return undefined
  const lonely = isDialer ? dialer : host
  if (lonely.has(PEER_DATA.publicKey)) return undefined
  return directText(isDialer ? 'the host takes no part' : 'the dialer takes no part')
}

/** The items of a host for its dialer, with those of the controller in place of its own. */
export function sharedByTerms(shared: PeerData, terms: DirectTerms): PeerData {
  return new Map([...withoutTerms(shared), ...terms.forDialer])
}
