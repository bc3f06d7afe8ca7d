import { z } from 'zod'
import { jsonBytes } from '../../base/bytes.ts'
import { tooLarge } from '../../base/limits.ts'
import { type Call, type Caller, callerOf, SYSTEM_CALL } from '../../context/call.ts'
import type { EngineContext } from '../../context/context.ts'
import { PostureResponse as PostureResponseSchema } from '../../facts/access/posture/posture-check.resource.ts'
import { failedServiceRequests } from '../../facts/access/posture/posture-data.resource.ts'
import {
  applyResponses,
  type EndpointFacts,
  mayBeginGrace,
  type PostureData,
  type PostureDataView,
  type PostureResponse,
  postureDataView,
  postureResponses,
  type ServiceTimeout,
  serviceTimeouts,
} from '../../facts/access/posture/rules/index.ts'
import { services } from '../../facts/services/service.resource.ts'
import { readId, readInput, readValue } from '../../kernel/declaration/read-body.ts'
import type { RecordOf } from '../../kernel/declaration/resource.ts'
import { equals, ids } from '../../kernel/filter/index.ts'
import type { ReadTransaction } from '../../ports/record-storage.ts'
import { factsFor, reachableServices } from '../decision.ts'
import { wholePostureOf } from './posture-of.ts'
import { changePosture } from './posture-store.ts'

/** The reports of endpoints about themselves, and their consequences for sessions. */
export class Posture {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    this.#context = context
  }

  /**
   * Takes the responses of the caller's endpoint in order. Afterwards every session of the identity that no service policy
   * carries any more is gone. Answers the caller's services for which an MFA grace period began.
   *
   * @throws {ControllerError} COULD_NOT_VALIDATE for an invalid response, naming its field; beyond the limit
   *   `postureReportBytes` (bytes), naming the largest member of a response that alone exceeds it, or `body`.
   */
  async submit(call: Call, reported: readonly PostureResponse[]): Promise<readonly ServiceTimeout[]> {
    const caller = callerOf(call)
    const responses = readValue('input', z.array(z.unknown()), reported).map(readResponse)
    const now = this.#context.clock.now()
    requireWithin(responses, this.#context.settings.limits.postureReportBytes)
    return this.#context.writes.run(call, async (tx) => {
      const endpoint = { identityId: caller.identity.id, apiSessionId: caller.apiSession.id, now }
      const data = await changePosture(this.#context, tx, endpoint, responses, (known) =>
        applyResponses(known, caller.apiSession.id, responses, now),
      )
      if (!mayBeginGrace(responses)) return []
      return serviceTimeouts(await this.#checkedServices(tx, caller), data, caller.apiSession.id, responses, now)
    })
  }

  /** Reads the reports of an identity's endpoints; empty before the first report. */
  async dataOf(identityId: string): Promise<PostureDataView> {
    readId(identityId, 'identityId')
    return this.#context.storage.read(async (tx) => postureDataView(await wholePostureOf(tx, identityId)))
  }

  /** The service requests of an identity that posture refused, oldest first, at most 50. */
  async failedRequests(identityId: string): Promise<readonly RecordOf<typeof failedServiceRequests>[]> {
    readId(identityId, 'identityId')
    return this.#context.storage.read(async (tx) => {
      const { items } = await tx.collection(failedServiceRequests).find({
        where: equals('identityId', identityId),
        orderBy: [{ field: 'when', kind: 'instant', direction: 'asc' }],
      })
      return items
    })
  }

  async #checkedServices(tx: ReadTransaction, caller: Caller) {
    const index = await this.#context.access.at(tx)
    const reachable = reachableServices(index, caller.identity.id)
    const { items } = await tx.collection(services).find({ where: ids(reachable) })
    const pairs = items.map(({ id: serviceId }) => ({ identityId: caller.identity.id, serviceId }))
    const facts = await factsFor(this.#context, tx, pairs, { posture: 'brought', everyPolicy: false })
    return items.map(({ id, name }, position) => ({
      id,
      name,
      checks: facts[position]?.grants.flatMap(({ checks }) => checks) ?? [],
    }))
  }
}

/**
 * Takes the reports of an endpoint that an edge router handed on, in order, each as of its own instant (epoch ms).
 * Sessions and circuits that no service policy carries any more have ended when it resolves.
 *
 * @throws {ControllerError} as {@link Posture.submit} does.
 */
export async function handOnPosture(
  context: EngineContext,
  endpoint: { readonly identityId: string; readonly apiSessionId: string },
  reports: readonly { readonly facts: EndpointFacts; readonly at: number }[],
): Promise<void> {
  const read = reports.map(({ facts, at }) => ({ at, responses: postureResponses(facts).map(readResponse) }))
  const all = read.flatMap(({ responses }) => responses)
  requireWithin(all, context.settings.limits.postureReportBytes)
  const now = context.clock.now()
  const applied = (known: PostureData) =>
    read.reduce((data, { at, responses }) => {
      return applyResponses(data, endpoint.apiSessionId, responses, Math.min(at, now))
    }, known)
  await context.writes.run(SYSTEM_CALL, (tx) => changePosture(context, tx, { ...endpoint, now }, all, applied))
}

function requireWithin(responses: readonly PostureResponse[], most: number): void {
  const sizes = responses.map((response) => jsonBytes(response))
  const total = sizes.reduce((sum, size) => sum + size, 0)
  if (total <= most) return
  const alone = responses.find((_, position) => (sizes[position] ?? 0) > most)
  if (alone === undefined) throw tooLarge('body', `${total} bytes`, most, 'postureReportBytes')
  const [largest] = Object.entries(alone)
    .map(([field, value]) => ({ field, size: jsonBytes(value) }))
    .sort((a, b) => b.size - a.size)
  throw tooLarge(largest?.field ?? 'body', `${largest?.size ?? total} bytes`, most, 'postureReportBytes')
}

/** The schema reads a posture response, as its type says. */
function readResponse(reported: unknown): PostureResponse {
  return readInput({ body: PostureResponseSchema }, reported) as PostureResponse
}
