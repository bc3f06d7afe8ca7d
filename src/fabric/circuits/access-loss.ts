import { earlier } from '../../base/time.ts'
import type { EngineContext } from '../../context/context.ts'
import type { DecisionReason } from '../../facts/access/decision.rules.ts'
import { type CircuitEnd, firstRouter, lastRouter } from '../../facts/fabric/rules/index.ts'
import { type KindTraits, traitsOf } from '../../facts/resources/index.ts'
import type { Change, ReadTransaction } from '../../ports/record-storage.ts'
import { type CircuitEnds, setRightsEnd } from './circuit-end.ts'
import type { Circuit, CircuitParty, OpenCircuits } from './open-circuits.ts'
import type { JudgedClaims, ServiceClaim, ServiceRights } from './service-rights.ts'

/**
 * The rights that carry a circuit, as they were judged: the revision of the store, and the instant (epoch ms) at which they end by
 * themselves.
 */
export interface Carrying {
  readonly revision: number
  readonly until: number | undefined
}

/** The reason for the end of a circuit, by the reason for which one of its ends is refused; `access-lost` for every other reason. */
const ENDS: Readonly<Partial<Record<DecisionReason, CircuitEnd>>> = {
  'service-unknown': 'service-deleted',
  'api-session-over': 'session-ended',
  'service-session-over': 'session-ended',
}

/**
 * Ends each circuit whose client may no longer dial or whose host may no longer bind. All others go on. Losses by time alone (posture, the
 * end of a term or session) are judged when they occur, whichever process began the session; without an answer of the storage they
 * count as occurred a minute later.
 */
export class AccessLoss {
  readonly #context: EngineContext
  readonly #rights: ServiceRights
  readonly #circuits: OpenCircuits
  readonly #ends: CircuitEnds
  /** The revision of the store by which circuits were looked at last. */
  #revision = 0

  constructor(context: EngineContext, rights: ServiceRights, circuits: OpenCircuits, ends: CircuitEnds) {
    this.#context = context
    this.#rights = rights
    this.#circuits = circuits
    this.#ends = ends
    context.timetable.onDue('circuit-right', async (circuitIds) => {
      const open = circuitIds.flatMap((id) => circuits.get(id) ?? [])
      if (open.length > 0) await context.storage.read((tx) => this.#judge(tx, open))
    })
    // A storage that refuses or hangs may not prolong rights.
    context.timetable.onDue('circuit-unanswered', async (circuitIds) => {
      for (const circuit of circuitIds.flatMap((id) => circuits.get(id) ?? [])) ends.end(circuit, 'access-lost', true)
    })
  }

  /** A circuit was laid by rights that were judged in a snapshot: later changes of the store count for it. */
  async opened(circuit: Circuit, { revision, until }: Carrying): Promise<void> {
    setRightsEnd(this.#context, circuit.id, until)
    if (revision < this.#revision) await this.#context.storage.read((tx) => this.#judge(tx, [circuit]))
  }

  /** Judges the open circuits that changes of the store may concern; all of them where the changes are unknown. */
  async follow(tx: ReadTransaction, changes: readonly Change[] | undefined): Promise<void> {
    this.#revision = tx.revision
    if (this.#circuits.size === 0) return
    const open = concerned(this.#circuits.all(), changes)
    if (open.length > 0) await this.#judge(tx, open)
  }

  async #judge(tx: ReadTransaction, open: readonly Circuit[]): Promise<void> {
    const claims = open.map(claimsOf)
    const judged = await this.#rights.judge(
      tx,
      claims.flat().map(({ claim }) => claim),
    )
    const turn = this.#context.turns.begin()
    for (const [position, circuit] of open.entries()) {
      const { reason, until } = whatBecomesOf(claims[position] ?? [], judged)
      if (reason !== undefined) this.#ends.end(circuit, reason, true)
      else if (this.#circuits.get(circuit.id) === circuit) {
        setRightsEnd(this.#context, circuit.id, until)
      }
      await turn()
    }
  }
}

/**
 * The reason for the end of a circuit, or the instant at which its rights end by themselves. A party whose posture passed here once must
 * keep passing here.
 */
function whatBecomesOf(
  claims: readonly PartyClaim[],
  judged: JudgedClaims,
): { readonly reason?: CircuitEnd; readonly until?: number | undefined } {
  let until: number | undefined
  for (const { party, claim } of claims) {
    const right = judged.get(claim)
    if (right?.verdict !== 'allowed') return { reason: (right && ENDS[right.reason]) ?? 'access-lost' }
    party.mustPass ||= right.isByReports
    until = earlier(until, right.until)
  }
  return { until }
}

/** A party of a circuit, with its claim. */
interface PartyClaim {
  readonly party: CircuitParty
  readonly claim: ServiceClaim
}

/** Makes the claims of the parties of a circuit: the client at its first router, and the host at its last one. */
function claimsOf({ client, host, serviceId, course }: Circuit): readonly PartyClaim[] {
  const { path } = course
  const claims: PartyClaim[] = [
    { party: client, claim: { ...client, type: 'Dial', serviceId, routerId: firstRouter(path) } },
  ]
  if (host !== undefined) {
    claims.push({ party: host, claim: { ...host, type: 'Bind', serviceId, routerId: lastRouter(path) } })
  }
  return claims
}

/**
 * The circuits that changes may concern. A log-in changes an identity and every dial inserts a session: neither may cost a look
 * at all circuits.
 */
function concerned(open: readonly Circuit[], changes: readonly Change[] | undefined): readonly Circuit[] {
  const changesTo = (circuits: KindTraits['circuits']) =>
    changes?.filter(({ kind }) => traitsOf(kind).circuits === circuits) ?? []
  if (changes === undefined || changesTo('all').length > 0) return open
  const people = new Set(changesTo('identity').map(({ id }) => id))
  const changedServices = new Set(changesTo('service').map(({ id }) => id))
  const ended = changesTo('session').filter(({ operation }) => operation !== 'insert')
  const changedSessions = new Set([...ended, ...changesTo('endpoint')].map(({ id }) => id))
  if (people.size + changedServices.size + changedSessions.size === 0) return []
  const isConcerned = (party: CircuitParty | undefined) =>
    party !== undefined &&
    (people.has(party.identityId) ||
      changedSessions.has(party.sessionId ?? '') ||
      changedSessions.has(party.apiSessionId ?? ''))
  return open.filter(
    ({ client, host, serviceId }) => changedServices.has(serviceId) || isConcerned(client) || isConcerned(host),
  )
}
