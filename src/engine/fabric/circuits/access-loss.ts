import type { AccessIndex } from '../../../domain/access-index/index.ts'
import type { CircuitEnd } from '../../../domain/fabric/index.ts'
import { ids } from '../../../domain/filter/index.ts'
import { isDisabled } from '../../../domain/identity.ts'
import { emptyPostureData } from '../../../domain/posture/index.ts'
import type { Change, ReadTransaction } from '../../../ports/storage.ts'
import { identities } from '../../../resources/identities.ts'
import { services } from '../../../resources/services.ts'
import { sessions } from '../../../resources/sessions.ts'
import { decideByPosture } from '../../access/service-access.ts'
import type { EngineContext } from '../../context/context.ts'
import type { Circuit } from './circuit.ts'
import type { CircuitEnds } from './circuit-end.ts'
import type { OpenCircuits } from './open-circuits.ts'

/** Kinds whose change may take a circuit from somebody. */
const CONCERNED: ReadonlySet<string> = new Set([
  'edge-router-policies',
  'edge-routers',
  'identities',
  'posture-checks',
  'service-edge-router-policies',
  'service-policies',
  'services',
  'sessions',
])

interface Facts {
  readonly index: AccessIndex
  readonly sessions: ReadonlySet<string>
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

  /** Judges open circuits after changes of the store. Deleted service sessions name their circuits; other changes, all. */
  async follow(tx: ReadTransaction, changes: readonly Change[] | undefined): Promise<void> {
    if (this.#circuits.size === 0 || changes?.some(({ kind }) => CONCERNED.has(kind)) === false) return
    const open = this.#circuits.all()
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
    const parties = new Set(open.flatMap(({ client, hostId }) => [client.identityId, hostId]))
    const serviceIds = new Set(open.map(({ serviceId }) => serviceId))
    const people = await tx.collection(identities).find({ where: ids(parties) })
    return {
      index: await this.#context.access.at(tx),
      sessions: idsOf((await tx.collection(sessions).find({ where: ids(sessionIds) })).items),
      services: idsOf((await tx.collection(services).find({ where: ids(serviceIds) })).items),
      identities: idsOf(people.items.filter((identity) => !isDisabled(identity, now))),
    }
  }

  async #endOf(
    tx: ReadTransaction,
    { client, serviceId, hostId, course }: Circuit,
    { index, sessions: sessionIds, services: serviceIds, identities: identityIds }: Facts,
    decided: Map<string, boolean>,
  ): Promise<CircuitEnd | undefined> {
    if (!serviceIds.has(serviceId)) return 'service-deleted'
    if (client.sessionId !== undefined && !sessionIds.has(client.sessionId)) return 'session-ended'
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
    { identityId, apiSessionId }: Circuit['client'],
    serviceId: string,
  ): Promise<boolean> {
    if (apiSessionId !== undefined) return index.allows(identityId, serviceId, 'Dial')
    const question = { identityId, apiSessionId: '', serviceId, type: 'Dial' } as const
    return (await decideByPosture(tx, index, question, emptyPostureData(), this.#context.clock.now())).granted
  }
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
