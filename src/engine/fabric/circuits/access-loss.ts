import type { AccessIndex } from '../../../domain/access-index/index.ts'
import type { CircuitEnd } from '../../../domain/fabric/index.ts'
import { ids } from '../../../domain/filter/index.ts'
import { isDisabled } from '../../../domain/identity.ts'
import { emptyPostureData } from '../../../domain/posture/index.ts'
import type { Change, ReadTransaction } from '../../../ports/storage.ts'
import { sessions } from '../../../resources/access/sessions.ts'
import { identities } from '../../../resources/identities/identities.ts'
import { apiSessions } from '../../../resources/login/api-sessions.ts'
import { services } from '../../../resources/services/services.ts'
import { decideByPosture } from '../../access/service-access.ts'
import type { EngineContext } from '../../context/context.ts'
import { postureDataOf } from '../../posture/posture-of.ts'
import type { Circuit } from './circuit.ts'
import type { CircuitEnds } from './circuit-end.ts'
import type { OpenCircuits } from './open-circuits.ts'

/** Kinds whose change may take any circuit from anybody. */
const CONCERNING_ALL: ReadonlySet<string> = new Set([
  'edge-router-policies',
  'edge-routers',
  'posture-checks',
  'service-edge-router-policies',
  'service-policies',
])

interface Facts {
  readonly index: AccessIndex
  readonly sessions: ReadonlySet<string>
  readonly apiSessions: ReadonlySet<string>
  readonly services: ReadonlySet<string>
  /** Identities that exist and are not disabled. */
  readonly identities: ReadonlySet<string>
}

/**
 * Ends the circuits that nothing carries any more: no policy lets the client dial, or the host bind, or one of them use its
 * router; the session is over; the identity is disabled. All others go on.
 */
export class AccessLoss {
  readonly #context: EngineContext
  readonly #circuits: OpenCircuits
  readonly #ends: CircuitEnds

  constructor(context: EngineContext, circuits: OpenCircuits, ends: CircuitEnds) {
    this.#context = context
    this.#circuits = circuits
    this.#ends = ends
  }

  /** Judges the open circuits that changes of the store may concern; all of them when it is not known what changed. */
  async follow(tx: ReadTransaction, changes: readonly Change[] | undefined): Promise<void> {
    if (this.#circuits.size === 0) return
    const open = concerned(this.#circuits.all(), changes)
    if (open.length === 0) return
    const facts = await this.#factsFor(tx, open)
    const turn = this.#context.turns.begin()
    const decided = new Map<string, boolean>()
    for (const circuit of open) {
      const reason = await this.#endOf(tx, circuit, facts, decided)
      if (reason !== undefined) this.#ends.end(circuit, reason, true)
      await turn()
    }
  }

  async #factsFor(tx: ReadTransaction, open: readonly Circuit[]): Promise<Facts> {
    const now = this.#context.clock.now()
    const sessionIds = new Set(open.flatMap(({ client }) => client.sessionId ?? []))
    const apiSessionIds = new Set(open.flatMap(({ client }) => client.apiSessionId ?? []))
    const parties = new Set(open.flatMap(({ client, hostId }) => [client.identityId, hostId]))
    const serviceIds = new Set(open.map(({ serviceId }) => serviceId))
    const people = await tx.collection(identities).find({ where: ids(parties) })
    return {
      index: await this.#context.access.at(tx),
      sessions: idsOf((await tx.collection(sessions).find({ where: ids(sessionIds) })).items),
      apiSessions: idsOf((await tx.collection(apiSessions).find({ where: ids(apiSessionIds) })).items),
      services: idsOf((await tx.collection(services).find({ where: ids(serviceIds) })).items),
      identities: idsOf(people.items.filter((identity) => !isDisabled(identity, now))),
    }
  }

  async #endOf(
    tx: ReadTransaction,
    { client, serviceId, hostId, course }: Circuit,
    { index, sessions: sessionIds, apiSessions: apiSessionIds, services: serviceIds, identities: identityIds }: Facts,
    decided: Map<string, boolean>,
  ): Promise<CircuitEnd | undefined> {
    if (!serviceIds.has(serviceId)) return 'service-deleted'
    if (client.sessionId !== undefined && !sessionIds.has(client.sessionId)) return 'session-ended'
    if (client.apiSessionId !== undefined && !apiSessionIds.has(client.apiSessionId)) return 'session-ended'
    if (!identityIds.has(client.identityId)) return 'access-lost'
    const { routers } = course.path
    const mayMeet = (identityId: string, routerId = '') =>
      index.commonEdgeRouters(identityId, serviceId).includes(routerId)
    const mayDial = () => this.#mayDial(tx, index, client, serviceId)
    const mayHost = () => index.allows(hostId, serviceId, 'Bind') && mayMeet(hostId, routers.at(-1))
    const dials = await once(
      decided,
      ['Dial', client.identityId, client.apiSessionId, serviceId, routers[0]],
      async () => {
        return mayMeet(client.identityId, routers[0]) && (await mayDial())
      },
    )
    if (!dials) return 'access-lost'
    if (hostId === '') return undefined
    const hosts = await once(decided, ['Bind', hostId, serviceId, routers.at(-1)], async () => mayHost())
    return hosts && identityIds.has(hostId) ? undefined : 'access-lost'
  }

  /** A router has no posture; the posture of others is judged with their sessions, or by the router that knows it. */
  async #mayDial(
    tx: ReadTransaction,
    index: AccessIndex,
    { identityId, apiSessionId, isJudgedHere = false }: Circuit['client'],
    serviceId: string,
  ): Promise<boolean> {
    if (apiSessionId !== undefined && !isJudgedHere) return index.allows(identityId, serviceId, 'Dial')
    const question = { identityId, apiSessionId: apiSessionId ?? '', serviceId, type: 'Dial' } as const
    const data = apiSessionId === undefined ? emptyPostureData() : await postureDataOf(tx, identityId, apiSessionId)
    const decision = await decideByPosture(this.#context, tx, index, question, data, this.#context.clock.now())
    return 'policyIds' in decision
  }
}

/**
 * The circuits that changes may concern. A log-in changes an identity and every dial inserts a session: neither may cost a look
 * at all circuits.
 */
function concerned(open: readonly Circuit[], changes: readonly Change[] | undefined): readonly Circuit[] {
  if (changes === undefined || changes.some(({ kind }) => CONCERNING_ALL.has(kind))) return open
  const idsOfKind = (name: string, isOver: boolean) => {
    const named = changes.filter(({ kind, operation }) => kind === name && (!isOver || operation === 'delete'))
    return idsOf(named)
  }
  const people = idsOfKind(identities.name, false)
  const changedServices = idsOfKind(services.name, false)
  const ended = new Set([...idsOfKind(sessions.name, true), ...idsOfKind(apiSessions.name, true)])
  if (people.size === 0 && changedServices.size === 0 && ended.size === 0) return []
  return open.filter(
    ({ client, hostId, serviceId }) =>
      people.has(client.identityId) ||
      people.has(hostId) ||
      changedServices.has(serviceId) ||
      ended.has(client.sessionId ?? '') ||
      ended.has(client.apiSessionId ?? ''),
  )
}

/** Many circuits ask the same. */
async function once(
  decided: Map<string, boolean>,
  question: readonly (string | undefined)[],
  decide: () => Promise<boolean>,
): Promise<boolean> {
  const key = JSON.stringify(question)
  const known = decided.get(key) ?? (await decide())
  decided.set(key, known)
  return known
}

function idsOf(records: readonly { readonly id: string }[]): ReadonlySet<string> {
  return new Set(records.map(({ id }) => id))
}
