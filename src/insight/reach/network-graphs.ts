import type { z } from 'zod'
import type { NameEntry } from '../../base/name-order.ts'
import { type Call, requireReading, SYSTEM_CALL } from '../../context/call.ts'
import type { EngineContext } from '../../context/context.ts'
import {
  type FoundNames,
  type GraphMember,
  type GraphMembers,
  SearchRequest,
} from '../../facts/insight/graph/graph.resource.ts'
import {
  type AccessMap,
  type Finding,
  FindingsRequest,
  MapRequest,
  type Reach,
  ReachRequest,
  ScopeMembersRequest,
} from '../../facts/insight/reach/reach.resource.ts'
import { readRequest } from '../../kernel/declaration/read-body.ts'
import { accessMap, scopeMembers } from './access-map.ts'
import { findings } from './findings.ts'
import { EndingCertificates } from './found-credentials.ts'
import { HostedServices } from './hosts-of-services.ts'
import { NameIndex } from './names.ts'
import { Partitions } from './partition.ts'
import { reachOf } from './reach.ts'
import { search } from './search.ts'
import { AbandonedPolicies } from './unused-policies.ts'

/** Answers about access by groups and by names, for callers with the right to read it. Long work is done in slices. */
export class NetworkGraphs {
  readonly #context: EngineContext
  readonly #partitions: Partitions
  readonly #names: NameIndex
  readonly #hosted: HostedServices
  readonly #certificates: EndingCertificates
  readonly #abandoned: AbandonedPolicies

  constructor(context: EngineContext) {
    this.#context = context
    this.#partitions = new Partitions(context)
    this.#names = new NameIndex(context)
    this.#hosted = new HostedServices(context)
    this.#certificates = new EndingCertificates(context)
    this.#abandoned = new AbandonedPolicies(context, () => this.#partitions.of(SYSTEM_CALL, context.turns))
  }

  /**
   * Computes the first answers for the explorer ahead: names in order, classes, findings, both sizes of the access map,
   * and that of Bind. Later questions take over the changes since.
   */
  async prepare(): Promise<void> {
    await this.findings(SYSTEM_CALL)
    await this.map(SYSTEM_CALL, { groups: FEW_GROUPS })
    for (const type of ['Dial', 'Bind'] as const) await this.map(SYSTEM_CALL, { type })
  }

  /**
   * A page of the services that an identity reaches, or of the identities that reach a service, with the policies that grant it.
   *
   * @throws {ControllerError} UNAUTHORIZED for a caller that may not read identities, services and service policies.
   * @throws {ControllerError} NOT_FOUND for an unknown id or name.
   */
  async reach(call: Call, input: z.input<typeof ReachRequest>): Promise<Reach> {
    const request = readRequest(ReachRequest, input)
    requireReading(call, ['service-policy', 'identity', 'service'])
    const context = this.#context
    return reachOf(context, await this.#names.current(context.turns), request)
  }

  /**
   * The access to dial or bind within two scopes: by name where there are few entities, otherwise in few groups, by the role
   * attributes that best tell apart the entities that policies select, or by the property that the request asks for.
   *
   * @throws {ControllerError} UNAUTHORIZED for a caller that may not read identities, services and service policies.
   */
  async map(call: Call, input: z.input<typeof MapRequest> = {}): Promise<AccessMap> {
    const request = readRequest(MapRequest, input)
    requireReading(call, ['service-policy', 'identity', 'service'])
    const context = this.#context
    const partition = await this.#partitions.of(call, context.turns)
    return accessMap(context, partition, await this.#names.current(context.turns), request)
  }

  /**
   * A page of the members of a scope of the access map, by name.
   *
   * @throws {ControllerError} NOT_FOUND for a kind that the caller may not see.
   */
  async mapMembers(call: Call, input: z.input<typeof ScopeMembersRequest>): Promise<GraphMembers> {
    const request = readRequest(ScopeMembersRequest, input)
    const context = this.#context
    const partition = await this.#partitions.of(call, context.turns)
    const found = await scopeMembers(context, partition, await this.#names.current(context.turns), request)
    return {
      count: found.count,
      members: await this.#withStatus(request.kind, found.entries),
      nextCursor: found.nextCursor,
    }
  }

  /** Finds probable mistakes, of the kinds that the caller may read. */
  async findings(call: Call, input: z.input<typeof FindingsRequest> = {}): Promise<readonly Finding[]> {
    const request = readRequest(FindingsRequest, input)
    const context = this.#context
    const partition = await this.#partitions.of(call, context.turns)
    const names = await this.#names.current(context.turns)
    const [hosted, certificates, abandoned] = [this.#hosted, this.#certificates, this.#abandoned]
    return findings({ context, partition, names, hosted, certificates, abandoned }, call, request)
  }

  /** Searches the entities that the caller may read by name. */
  async search(call: Call, input: z.input<typeof SearchRequest>): Promise<FoundNames> {
    const { q, limit } = readRequest(SearchRequest, input)
    const context = this.#context
    return search(context, call, await this.#names.current(context.turns), q.trim(), limit)
  }

  async #withStatus(kind: string, entries: readonly NameEntry[]): Promise<readonly GraphMember[]> {
    const { presence, storage } = this.#context
    if (kind === 'services') return entries.map((entry) => ({ ...named(entry), status: null }))
    if (kind === 'identities') return entries.map((entry) => ({ ...named(entry), status: presence.statusOf(entry.id) }))
    return storage.read(async (tx) => {
      const routers = await presence.at(tx)
      return entries.map((entry) => {
        const isOnline = routers.connectionOf(entry.id) !== undefined
        return { ...named(entry), status: isOnline ? 'online' : 'offline' }
      })
    })
  }
}

/** As many groups of each kind as the small picture of an overview asks for. */
const FEW_GROUPS = 12

function named({ id, name }: NameEntry) {
  return { id, name }
}
