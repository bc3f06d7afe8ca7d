import type { AccessIndex } from '../../../domain/access-index/index.ts'
import type { CircuitEnd } from '../../../domain/fabric/index.ts'
import { ids } from '../../../domain/filter/index.ts'
import { isDisabled } from '../../../domain/identity.ts'
import { emptyPostureData, type PostureData } from '../../../domain/posture/index.ts'
import type { Change, ReadTransaction } from '../../../ports/storage.ts'
import { sessions } from '../../../resources/access/sessions.ts'
import { identities } from '../../../resources/identities/identities.ts'
import { apiSessions } from '../../../resources/login/api-sessions.ts'
import { endpointStates, postureData } from '../../../resources/posture/posture-records.ts'
import { services } from '../../../resources/services/services.ts'
import { decideByPosture } from '../../access/service-access.ts'
import type { EngineContext } from '../../context/context.ts'
import { postureDataOf } from '../../posture/posture-of.ts'
import { ifReadable } from '../../records/damaged-records.ts'
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
  /** Whether identity and service may meet at a router, of those that were asked. */
  readonly meetings: Map<string, boolean>
  /** What lets API sessions dial services, of those that were asked. */
  readonly dials: Map<string, DialByPosture>
}

/** What lets somebody dial: a policy that asks for no posture, what clients reported here until an instant (epoch ms), or nothing. */
type DialByPosture =
  | { readonly by: 'policy' | 'nothing' }
  | { readonly by: 'reports'; readonly until: number | undefined }

/**
 * Ends the circuits that nothing carries any more: no policy lets the client dial, or the host bind, or one of them use its
 * router; the session is over; the identity is disabled. All others go on.
 */
export class AccessLoss {
  readonly #context: EngineContext
  readonly #circuits: OpenCircuits
  readonly #ends: CircuitEnds
  /** The revision of the store by which circuits were looked at last. */
  #revision = 0

  constructor(context: EngineContext, circuits: OpenCircuits, ends: CircuitEnds) {
    this.#context = context
    this.#circuits = circuits
    this.#ends = ends
    context.timetable.onDue('circuit-posture', async (circuitIds) => {
      const open = circuitIds.flatMap((id) => circuits.get(id) ?? [])
      if (open.length > 0) await context.storage.read((tx) => this.#judge(tx, open))
    })
  }

  /** A circuit was laid by a right as of a revision: what changed meanwhile, and what its posture is known by, counts for it. */
  async opened(circuit: Circuit, revision: number): Promise<void> {
    await this.#context.storage.read(async (tx) => {
      if (revision < this.#revision || (await hasReported(tx, circuit.client))) await this.#judge(tx, [circuit])
    })
  }

  /** Judges the open circuits that changes of the store may concern; all of them when it is not known what changed. */
  async follow(tx: ReadTransaction, changes: readonly Change[] | undefined): Promise<void> {
    this.#revision = tx.revision
    if (this.#circuits.size === 0) return
    const open = concerned(this.#circuits.all(), changes)
    if (open.length > 0) await this.#judge(tx, open)
  }

  async #judge(tx: ReadTransaction, open: readonly Circuit[]): Promise<void> {
    const facts = await this.#factsFor(tx, open)
    const turn = this.#context.turns.begin()
    for (const circuit of open) {
      const reason = await this.#endOf(tx, circuit, facts)
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
      meetings: new Map(),
      dials: new Map(),
    }
  }

  async #endOf(tx: ReadTransaction, circuit: Circuit, facts: Facts): Promise<CircuitEnd | undefined> {
    const { client, serviceId, hostId, course } = circuit
    const { index, meetings, sessions: sessionIds, apiSessions: apiSessionIds } = facts
    const { services: serviceIds, identities: identityIds } = facts
    if (!serviceIds.has(serviceId)) return 'service-deleted'
    if (client.sessionId !== undefined && !sessionIds.has(client.sessionId)) return 'session-ended'
    if (client.apiSessionId !== undefined && !apiSessionIds.has(client.apiSessionId)) return 'session-ended'
    if (!identityIds.has(client.identityId)) return 'access-lost'
    const { routers } = course.path
    const mayMeet = (identityId: string, routerId = '') =>
      index.commonEdgeRouters(identityId, serviceId).includes(routerId)
    const mayHost = () => index.allows(hostId, serviceId, 'Bind') && mayMeet(hostId, routers.at(-1))
    const meets = once(meetings, ['Dial', client.identityId, serviceId, routers[0]], () =>
      mayMeet(client.identityId, routers[0]),
    )
    if (!meets || !(await this.#mayDial(tx, circuit, facts))) return 'access-lost'
    if (hostId === '') return undefined
    const hosts = once(meetings, ['Bind', hostId, serviceId, routers.at(-1)], mayHost)
    return hosts && identityIds.has(hostId) ? undefined : 'access-lost'
  }

  /** The posture of others than routers, which have none, is judged with their sessions, by their router, or here. */
  async #mayDial(
    tx: ReadTransaction,
    { id, client, serviceId }: Circuit,
    { index, dials }: Pick<Facts, 'index' | 'dials'>,
  ): Promise<boolean> {
    const { identityId, apiSessionId, sessionId } = client
    if (sessionId !== undefined) return index.allows(identityId, serviceId, 'Dial')
    const key = JSON.stringify([identityId, apiSessionId, serviceId])
    const dial = dials.get(key) ?? (await this.#decide(tx, index, client, serviceId))
    dials.set(key, dial)
    if (dial.by === 'reports') {
      client.mustPass = true
      this.#context.timetable.set('circuit-posture', id, dial.until)
    }
    const isUpToRouter = dial.by === 'nothing' && apiSessionId !== undefined && client.mustPass !== true
    return isUpToRouter ? index.allows(identityId, serviceId, 'Dial') : dial.by !== 'nothing'
  }

  async #decide(
    tx: ReadTransaction,
    index: AccessIndex,
    { identityId, apiSessionId }: Circuit['client'],
    serviceId: string,
  ): Promise<DialByPosture> {
    const question = { identityId, apiSessionId: apiSessionId ?? '', serviceId, type: 'Dial' } as const
    const decide = (data: PostureData) =>
      decideByPosture(this.#context, tx, index, question, data, this.#context.clock.now())
    if ('policyIds' in (await decide(emptyPostureData()))) return { by: 'policy' }
    if (apiSessionId === undefined) return { by: 'nothing' }
    const decision = await decide(await postureDataOf(tx, identityId, apiSessionId))
    return 'policyIds' in decision ? { by: 'reports', until: decision.until } : { by: 'nothing' }
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
  const reported = new Set([...idsOfKind(postureData.name, false), ...idsOfKind(endpointStates.name, false)])
  const ended = new Set([...idsOfKind(sessions.name, true), ...idsOfKind(apiSessions.name, true)])
  if (people.size + changedServices.size + ended.size + reported.size === 0) return []
  return open.filter(
    ({ client, hostId, serviceId }) =>
      people.has(client.identityId) ||
      people.has(hostId) ||
      changedServices.has(serviceId) ||
      ended.has(client.sessionId ?? '') ||
      ended.has(client.apiSessionId ?? '') ||
      (client.sessionId === undefined && (reported.has(client.identityId) || reported.has(client.apiSessionId ?? ''))),
  )
}

/** Whether this controller knows something of the posture of a session that is made of tokens. */
async function hasReported(tx: ReadTransaction, client: Circuit['client']): Promise<boolean> {
  const { identityId, apiSessionId, sessionId } = client
  if (apiSessionId === undefined || sessionId !== undefined) return false
  const reported = await ifReadable(() => tx.collection(postureData).get(identityId))
  return (reported ?? (await ifReadable(() => tx.collection(endpointStates).get(apiSessionId)))) !== undefined
}

/** Many circuits ask the same. */
function once(known: Map<string, boolean>, question: readonly (string | undefined)[], decide: () => boolean): boolean {
  const key = JSON.stringify(question)
  const answer = known.get(key) ?? decide()
  known.set(key, answer)
  return answer
}

function idsOf(records: readonly { readonly id: string }[]): ReadonlySet<string> {
  return new Set(records.map(({ id }) => id))
}
