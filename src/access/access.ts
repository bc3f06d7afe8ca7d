import { indexedScope, type Scope } from '../entities/entity-reader.ts'
import { readId } from '../kernel/declaration/read-body.ts'
import { ids } from '../kernel/filter/index.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import { factsFor, reachableServices } from './decision.ts'
import type { AccessIndex, OrderedIds } from './index/index.ts'
import { type AdvicePorts, policyAdvice } from './policy-advice.ts'
import { edgeRoutersFor } from './sessions/session-members.ts'

/** The services that policies let identities reach, posture aside. */
export class Access {
  readonly #context: AdvicePorts

  constructor(context: AdvicePorts) {
    this.#context = context
  }

  /** Narrows a list to the ids, ascending and of one kind, that the access index answers. */
  related(answer: (index: AccessIndex) => OrderedIds): Scope {
    return indexedScope(this.#context.access, answer)
  }

  /** Narrows a list of services to those that an identity may dial or bind. */
  servicesOf(identityId: string): Scope {
    readId(identityId, 'identityId')
    return this.related((index) => reachableServices(index, identityId))
  }

  /** Narrows a list of edge routers to those that an identity may use. */
  edgeRoutersOf(identityId: string): (tx: ReadTransaction) => Promise<ReturnType<typeof ids>> {
    readId(identityId, 'identityId')
    return async (tx) => ids((await this.#context.access.at(tx)).edgeRoutersOfIdentity(identityId))
  }

  /** Tells of a service whether an identity may dial or bind it. */
  reachableBy(identityId: string): (tx: ReadTransaction, service: { readonly id: string }) => Promise<boolean> {
    readId(identityId, 'identityId')
    return async (tx, { id: serviceId }) => {
      const [facts] = await factsFor(this.#context, tx, [{ identityId, serviceId }], { posture: 'aside' })
      return facts !== undefined && facts.grants.length > 0
    }
  }

  /** The edge routers that both an identity and a service may use, at most 25: those online first. */
  async edgeRoutersBetween(identityId: string, serviceId: string) {
    readId(identityId, 'identityId')
    readId(serviceId, 'serviceId')
    return this.#context.storage.read((tx) => edgeRoutersFor(this.#context, tx, identityId, serviceId))
  }

  /**
   * Why an identity can or cannot use a service.
   *
   * @throws {ControllerError} NOT_FOUND when the identity or the service is not there.
   */
  async advice(identityId: string, serviceId: string) {
    readId(identityId, 'identityId')
    readId(serviceId, 'serviceId')
    return policyAdvice(this.#context, identityId, serviceId)
  }
}
