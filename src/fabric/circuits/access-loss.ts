import { type CircuitEnd, firstRouter, lastRouter } from '../../../domain/fabric/index.ts'
import type { Change, ReadTransaction } from '../../../ports/storage.ts'
import { sessions } from '../../../resources/access/sessions.ts'
import { identities } from '../../../resources/identities/identities.ts'
import { apiSessions } from '../../../resources/login/api-sessions.ts'
import { endpointStates, postureData } from '../../../resources/posture/posture-records.ts'
import { services } from '../../../resources/services/services.ts'
import type { EngineContext } from '../../context/context.ts'
import { type ClaimJudge, earlier, type Lack, type ServiceClaim, type ServiceRights } from '../rights/service-rights.ts'
import type { Circuit, CircuitParty } from './circuit.ts'
import type { CircuitEnds } from './circuit-end.ts'
import type { OpenCircuits } from './open-circuits.ts'

/** Kinds whose change may take any circuit from anybody. */
const CONCERNING_ALL: ReadonlySet<string> = new Set([
  'auth-policies',
  'edge-router-policies',
  'edge-routers',
  'external-jwt-signers',
  'posture-checks',
  'service-edge-router-policies',
  'service-policies',
])

/** What carries a circuit, as it was judged: the revision of the store, and until when (epoch ms) nothing takes it by itself. */
export interface Carrying {
  readonly revision: number
  readonly until: number | undefined
}

/** What a circuit is ended for that lacks something at one of its ends; everything else is access that was lost. */
const ENDS: Readonly<Partial<Record<Lack, CircuitEnd>>> = {
  service: 'service-deleted',
  'api-session': 'session-ended',
  session: 'session-ended',
}

/**
 * Ends the circuits that nothing carries any more: the client may not dial now, or the host may not bind. All others go on.
 * What time alone takes (posture, the end of a session) is judged when it comes, whichever process began the session.
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
  }

  /** A circuit was laid by rights that were judged in a snapshot: what changed since counts for it. */
  async opened(circuit: Circuit, { revision, until }: Carrying): Promise<void> {
    this.#context.timetable.set('circuit-right', circuit.id, until)
    if (revision < this.#revision) await this.#context.storage.read((tx) => this.#judge(tx, [circuit]))
  }

  /** Judges the open circuits that changes of the store may concern; all of them when it is not known what changed. */
  async follow(tx: ReadTransaction, changes: readonly Change[] | undefined): Promise<void> {
    this.#revision = tx.revision
    if (this.#circuits.size === 0) return
    const open = concerned(this.#circuits.all(), changes)
    if (open.length > 0) await this.#judge(tx, open)
  }

  async #judge(tx: ReadTransaction, open: readonly Circuit[]): Promise<void> {
    const judge = await this.#rights.judgeOf(
      tx,
      open.flatMap(claimsOf).map(({ claim }) => claim),
    )
    const turn = this.#context.turns.begin()
    for (const circuit of open) {
      const { reason, until } = await whatBecomesOf(circuit, judge)
      if (reason !== undefined) this.#ends.end(circuit, reason, true)
      else if (this.#circuits.get(circuit.id) === circuit) {
        this.#context.timetable.set('circuit-right', circuit.id, until)
      }
      await turn()
    }
  }
}

/** Why a circuit ends, or until when it goes on by itself. What passes here once has to go on passing here. */
async function whatBecomesOf(
  circuit: Circuit,
  judge: ClaimJudge,
): Promise<{ readonly reason?: CircuitEnd; readonly until?: number | undefined }> {
  let until: number | undefined
  for (const { party, claim } of claimsOf(circuit)) {
    const right = await judge(claim)
    if (right.lack !== undefined) return { reason: ENDS[right.lack] ?? 'access-lost' }
    party.mustPass ||= right.byReports
    until = earlier(until, right.until)
  }
  return { until }
}

/** What the parties of a circuit claim: the client at its first router, and the host at its last one. */
function claimsOf({ client, host, serviceId, course }: Circuit) {
  const { path } = course
  const claims: { readonly party: CircuitParty; readonly claim: ServiceClaim }[] = [
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
  if (changes === undefined || changes.some(({ kind }) => CONCERNING_ALL.has(kind))) return open
  const changed = (...names: readonly string[]) => changes.filter(({ kind }) => names.includes(kind))
  const people = idsOf(changed(identities.name, postureData.name))
  const changedServices = idsOf(changed(services.name))
  const changedSessions = idsOf([
    ...changed(sessions.name, apiSessions.name).filter(({ operation }) => operation !== 'insert'),
    ...changed(endpointStates.name),
  ])
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

function idsOf(changes: readonly Change[]): ReadonlySet<string> {
  return new Set(changes.map(({ id }) => id))
}
