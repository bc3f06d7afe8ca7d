import { toBase64 } from '../base/bytes.ts'
import { SYSTEM_CALL } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import type {
  PeerData,
  TerminatorRequest,
  TerminatorUpdate,
  ToRouter,
  TunnelTerminatorRequest,
} from '../facts/fabric/messages/index.ts'
import type { Precedence } from '../facts/fabric/rules/index.ts'
import { services } from '../facts/services/service.resource.ts'
import { terminators } from '../facts/services/terminator.resource.ts'
import { equals } from '../kernel/filter/index.ts'
import type { WriteTransaction } from '../ports/record-storage.ts'
import { keepOwnerQuota } from '../records/owner-quota.ts'
import { newRecord } from '../records/read-records.ts'
import { writeEachInParts } from '../records/write-batches.ts'
import { RouterRefusal } from './channels/channel-admission.ts'
import type { ConnectedRouter } from './channels/connected-routers.ts'
import { claimOf, type GrantedClaim, granted, ownClaim } from './circuits/dial-rights.ts'
import type { DirectCircuits } from './circuits/direct-circuits.ts'
import { recordedPeerData } from './circuits/peer-data.ts'
import { requireApiSession, requireSession, verifyPresented } from './circuits/presented-tokens.ts'
import type { ServiceRights } from './circuits/service-rights.ts'
import type { Terminator } from './circuits/terminator-selection.ts'

/** An address of a service at a router, as it is registered. */
interface Registration {
  readonly id: string
  readonly routerId: string
  readonly serviceId: string
  readonly hostId: string
  /** The API session by which an SDK registers it; null for a router for its own host. */
  readonly apiSessionId: string | null
  readonly sessionId: string | null
  readonly binding: 'edge' | 'tunnel'
  readonly address: string
  readonly peerData: PeerData
  readonly cost: number
  readonly precedence: Precedence
  readonly instanceId: string
  readonly instanceSecret: Uint8Array
}

const GREATEST_COST = 65_535
const LONGEST_ID = 64
const LONGEST_TEXT = 1024
/** Bytes that a host may leave for its dialers: they are stored, and sent with each circuit. */
const MOST_PEER_BYTES = 16_384
/** Terminators of one service: a host that registers without end must not fill the store. */
const MOST_OF_A_SERVICE = 10_000

/**
 * Terminators that hosts register through their routers: SDKs, and routers for themselves. They are stored, so that they
 * outlive the controller's process; `hostId` is the identity that registered one.
 */
export class HostedTerminators {
  readonly #context: EngineContext
  readonly #rights: ServiceRights
  readonly #direct: DirectCircuits | undefined
  /** Terminators that dials found dead, while that is written: whether one was registered again meanwhile. */
  readonly #dying = new Map<string, { isBack: boolean; waiting: number }>()

  constructor(context: EngineContext, rights: ServiceRights, direct: DirectCircuits | undefined) {
    this.#context = context
    this.#rights = rights
    this.#direct = direct
  }

  /** An SDK hosts a service at a router. Throws {@link RouterRefusal}. */
  async registerForSdk(
    router: Pick<ConnectedRouter, 'id' | 'capabilities'>,
    request: TerminatorRequest,
  ): Promise<ToRouter> {
    const id = requireId(request.address)
    const presented = await verifyPresented(this.#context, request.apiSessionToken, request.sessionToken)
    return this.#register(id, request.cost, 0n, async (tx) => {
      const apiSession = await requireApiSession(this.#context, tx, presented)
      const { serviceId, storedId } = await requireSession(this.#context, tx, apiSession, presented, 'Bind')
      const claim = claimOf(router, apiSession, { type: 'Bind', serviceId, sessionId: storedId })
      return { ...request, ...hostingBy(await granted(this.#rights, tx, claim)), id, binding: 'edge' }
    })
  }

  /** A router hosts a service itself. Throws {@link RouterRefusal}. */
  async registerForRouter(routerId: string, request: TunnelTerminatorRequest): Promise<ToRouter> {
    const id = requireId(request.address)
    return this.#register(id, request.cost, request.startTime, async (tx) => {
      const claim = ownClaim('Bind', routerId, request.serviceId)
      return { ...request, ...hostingBy(await granted(this.#rights, tx, claim)), id, binding: 'tunnel' }
    })
  }

  /** Changes cost or precedence of a terminator of the router. Throws {@link RouterRefusal}. */
  async update(routerId: string, { terminatorId, cost, precedence }: TerminatorUpdate): Promise<void> {
    if (cost !== undefined) requireCost(cost)
    await this.#context.writes.run(SYSTEM_CALL, async (tx) => {
      const known = await tx.collection(terminators).get(terminatorId)
      if (known === undefined) throw new RouterRefusal('invalid-terminator', 'invalid terminator')
      if (known.routerId !== routerId) throw foreignTerminator()
      const change = { cost: cost ?? known.cost, precedence: precedence ?? known.precedence }
      if (change.cost === known.cost && change.precedence === known.precedence) return
      await tx.collection(terminators).update({ ...known, ...change, updatedAt: this.#context.clock.now() })
    })
  }

  /** Removes terminators of the router; answers whether some belong to others, which stay. Unknown ids are ignored. */
  async remove(routerId: string, ids: readonly string[]): Promise<{ readonly hasForeign: boolean }> {
    let hasForeign = false
    await writeEachInParts(this.#context, SYSTEM_CALL, ids, async (tx, id) => {
      const known = await tx.collection(terminators).get(id)
      if (known === undefined) return
      if (known.routerId === routerId) await tx.collection(terminators).delete(id)
      else hasForeign = true
    })
    return { hasForeign }
  }

  /** The router is spared: its terminators are dialed only where there are no others. */
  quiesce(routerId: string): Promise<void> {
    return this.#change(routerId, ({ precedence }) =>
      precedence === 'failed' ? undefined : { precedence: 'failed', savedPrecedence: precedence },
    )
  }

  /** The router serves as before: its terminators get back their former precedence. */
  dequiesce(routerId: string): Promise<void> {
    return this.#change(routerId, ({ precedence, savedPrecedence }) =>
      savedPrecedence === null || precedence !== 'failed'
        ? undefined
        : { precedence: savedPrecedence, savedPrecedence: null },
    )
  }

  async #change(
    routerId: string,
    changeOf: (known: Terminator) => Partial<Pick<Terminator, 'precedence' | 'savedPrecedence'>> | undefined,
  ): Promise<void> {
    const where = equals('routerId', routerId)
    const ids = await this.#context.storage.read((tx) => tx.collection(terminators).findIds({ where }))
    await writeEachInParts(this.#context, SYSTEM_CALL, ids, async (tx, id) => {
      const known = await tx.collection(terminators).get(id)
      const change = known?.routerId === routerId ? changeOf(known) : undefined
      if (known === undefined || change === undefined) return
      await tx.collection(terminators).update({ ...known, ...change, updatedAt: this.#context.clock.now() })
    })
  }

  /**
   * A dial found that a router does not know a terminator: a terminator that its host registers anew is deleted, any other is tried last.
   * The storage may take long: a terminator that was registered again meanwhile stays as it is.
   */
  async dead({ id, binding, createdAt, updatedAt }: Terminator): Promise<void> {
    const registration = this.#dying.get(id) ?? { isBack: false, waiting: 0 }
    this.#dying.set(id, registration)
    registration.waiting += 1
    try {
      await this.#context.writes.run(SYSTEM_CALL, async (tx) => {
        const known = await tx.collection(terminators).get(id)
        if (known === undefined || registration.isBack) return
        if (known.createdAt !== createdAt || known.updatedAt !== updatedAt) return
        if (binding === 'edge' || binding === 'tunnel') await tx.collection(terminators).delete(id)
        else await tx.collection(terminators).update({ ...known, precedence: 'failed' })
      })
    } finally {
      registration.waiting -= 1
      if (registration.waiting === 0) this.#dying.delete(id)
    }
  }

  /** The host is judged in the write that stores the terminator. */
  async #register(
    terminatorId: string,
    cost: number,
    startTime: bigint,
    judge: (tx: WriteTransaction) => Promise<Registration>,
  ): Promise<ToRouter> {
    requireCost(cost)
    await this.#context.writes.run(SYSTEM_CALL, async (tx) => {
      const registration = await judge(tx)
      requirePeerData(registration.peerData)
      await this.#requireOffer(tx, registration)
      await this.#store(tx, registration)
      const dying = this.#dying.get(terminatorId)
      if (dying !== undefined) dying.isBack = true
    })
    return { type: 'terminator-created', terminatorId, startTime }
  }

  /** A host that encrypts in another way than the network demands is refused. Throws {@link RouterRefusal}. */
  async #requireOffer(tx: WriteTransaction, { serviceId, peerData }: Registration): Promise<void> {
    if (this.#direct === undefined) return
    const service = await tx.collection(services).get(serviceId)
    const problem = service && this.#direct.problem('host', service, peerData)
    if (problem !== undefined) throw new RouterRefusal('encryption-data-missing', problem)
  }

  async #store(tx: WriteTransaction, registration: Registration): Promise<void> {
    const { id, routerId, serviceId, hostId, binding, address, cost, precedence } = registration
    const { apiSessionId, sessionId } = registration
    const now = this.#context.clock.now()
    const known = await tx.collection(terminators).get(id)
    if (known !== undefined) {
      const isSame =
        known.routerId === routerId &&
        known.serviceId === serviceId &&
        known.hostId === hostId &&
        known.binding === binding
      if (known.routerId !== routerId) throw foreignTerminator()
      if (!isSame) throw new RouterRefusal('invalid-terminator', 'terminator id is taken', { hint: 'not-retriable' })
      const isBySame = known.apiSessionId === apiSessionId && known.sessionId === sessionId
      if (isBySame && known.cost === cost && known.precedence === precedence) return
      const change = { cost, precedence, apiSessionId, sessionId, updatedAt: now }
      await tx.collection(terminators).update({ ...known, ...change })
      return
    }
    const { instanceId: identity, instanceSecret } = registration
    await requireInstance(tx, serviceId, identity, hostId)
    const terminator = newRecord(id, now, {
      address,
      binding,
      cost,
      precedence,
      routerId,
      serviceId,
      hostId,
      apiSessionId,
      sessionId,
      identity,
      identitySecret: toBase64(instanceSecret),
      peerData: recordedPeerData(registration.peerData),
      savedPrecedence: null,
    })
    await keepOwnerQuota(this.#context, tx, terminators, terminator)
    await tx.collection(terminators).insert(terminator)
  }
}

/** The host, its place and its session, of a claim that was found right. */
function hostingBy({ claim }: GrantedClaim) {
  const { identityId: hostId, routerId, serviceId, apiSessionId = null, sessionId = null } = claim
  return { hostId, routerId, serviceId, apiSessionId, sessionId }
}

function requirePeerData(peerData: PeerData): void {
  const bytes = [...peerData.values()].reduce((sum, value) => sum + value.length, 0)
  if (bytes <= MOST_PEER_BYTES) return
  throw new RouterRefusal('invalid-terminator', `a terminator has at most ${MOST_PEER_BYTES} bytes of peer data`)
}

/** A router does not name the terminator of another router by chance: that is misbehaviour. */
export function foreignTerminator(): RouterRefusal {
  return new RouterRefusal('invalid-terminator', 'terminator of another router', { misbehaviour: 'foreign-terminator' })
}

function requireId(address: string): string {
  if (/^[\w.:~-]+$/.test(address) && address.length <= LONGEST_ID) return address
  throw new RouterRefusal('invalid-terminator', 'invalid terminator id')
}

function requireCost(cost: number): void {
  if (cost > GREATEST_COST) throw new RouterRefusal('invalid-cost', `cost ${cost} is beyond ${GREATEST_COST}`)
}

/** An instance of a service belongs to the identity that registered it first. */
async function requireInstance(
  tx: WriteTransaction,
  serviceId: string,
  instanceId: string,
  hostId: string,
): Promise<void> {
  if (instanceId.length > LONGEST_TEXT) throw new RouterRefusal('invalid-instance-id', 'instance id is too long')
  const ofService = equals('serviceId', serviceId)
  const { totalCount } = await tx.collection(terminators).find({ where: ofService, limit: 1 })
  if (totalCount >= MOST_OF_A_SERVICE) throw new RouterRefusal('internal', 'too many terminators', { hint: 'too-busy' })
  if (instanceId === '') return
  const where = { kind: 'and', left: ofService, right: equals('identity', instanceId) } as const
  const { items } = await tx.collection(terminators).find({ where, limit: 1 })
  const other = items.find((known) => known.hostId !== hostId)
  if (other === undefined) return
  // Host programs look for the words of deployed controllers.
  const text = `sibling terminator ${other.id} with shared identity ${instanceId} belongs to different identity`
  throw new RouterRefusal('invalid-instance-id', text)
}
