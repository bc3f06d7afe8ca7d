import { z } from 'zod'
import { explain } from '../../access/explain.ts'
import { ControllerError, notFound } from '../../base/errors.ts'
import { quoted } from '../../base/text.ts'
import { instant } from '../../base/time.ts'
import type { Call } from '../../context/call.ts'
import type { EngineContext } from '../../context/context.ts'
import { type Explanation, explanationText } from '../../facts/access/explain/index.ts'
import {
  type DialStation,
  type DialStep,
  type DialTrace,
  dialSteps,
  dialText,
  dialVerdict,
  stationOf,
} from '../../facts/fabric/rules/index.ts'
import { identities } from '../../facts/identities/identity.resource.ts'
import { edgeRouters } from '../../facts/routers/edge-router.resource.ts'
import { transitRouters } from '../../facts/routers/transit-router.resource.ts'
import { readValue } from '../../kernel/declaration/read-body.ts'
import { ids } from '../../kernel/filter/index.ts'
import { currentCall } from '../../login/current-call.ts'

/** The dial to follow: identity and service by id or name. */
export interface TraceQuestion {
  readonly identity: string
  readonly service: string
  /** Milliseconds within which the dial begins, at most 120,000. */
  readonly withinMs: number
}

interface Named {
  readonly id: string
  readonly name: string
}

/** A dial that was followed; or why none was. */
export interface TracedDial {
  /** Whether a dial succeeded or failed, no dial came in time, or no dial was possible. */
  readonly outcome: 'connected' | 'stopped' | 'no-dial' | 'cannot-dial'
  readonly stoppedAt: DialStation | null
  readonly identity: Named
  readonly service: Named
  readonly circuitId: string | null
  /** Epoch ms of the request; null where none came. */
  readonly at: number | null
  readonly tookMs: number | null
  readonly steps: readonly DialStep[]
  /** All of it for people, over several lines. */
  readonly text: string
}

/** Milliseconds that a dial is waited for at most. */
export const MOST_WAIT_MS = 120_000

/** Reasons for which no client gets as far as to ask a router for a circuit; posture may be reported until then. */
const NOBODY_ASKS: Readonly<Partial<Record<Explanation['reason'], DialStation>>> = {
  'identity-disabled': 'policies',
  'no-policy-for-pair': 'policies',
  'only-other-type': 'policies',
  'no-policy-in-force': 'policies',
  'no-edge-router-for-identity': 'edge-routers',
  'no-edge-router-for-service': 'edge-routers',
  'no-common-edge-router': 'edge-routers',
  'all-common-edge-routers-offline': 'edge-routers',
}

type TraceDialPorts = Parameters<typeof explain>[0] & Parameters<typeof currentCall>[0]

/**
 * Follows the next dial of an identity to a service, from the request of its router until the answer that the router gets,
 * whichever process over the store lays it. Where no client could ask now, that is answered at once.
 *
 * @throws {ControllerError} NOT_FOUND for an identity or a service that is not there, and while the data plane is not open.
 * @throws {ControllerError} UNAUTHORIZED when the right of the call ended while it waited.
 */
export async function traceDial(
  context: TraceDialPorts,
  call: Call,
  { identity: asked, service: wanted, withinMs }: TraceQuestion,
): Promise<TracedDial> {
  readValue('withinMs', z.int().positive().max(MOST_WAIT_MS), withinMs)
  const before = await explain(context, asked, wanted, 'Dial')
  const { identity, service } = before
  if (identity === null) throw notFound('identity', asked)
  if (service === null) throw notFound('service', wanted)
  const { view } = context.dataPlane
  if (view === undefined) throw notFound('data plane', 'of this process')
  const between = `${quoted(identity.name)} to ${quoted(service.name)}`
  const none = { identity, service, circuitId: null, at: null, tookMs: null, steps: [] }
  const stoppedAt = NOBODY_ASKS[before.reason]
  if (stoppedAt !== undefined) {
    const text = [`No dial of ${between} gets as far as a router now.`, explanationText(before)].join('\n')
    return { ...none, outcome: 'cannot-dial', stoppedAt, text }
  }
  const asker = call.by === 'caller' ? call.caller.identity.id : ''
  const trace = await view.nextDial({ identityId: identity.id, serviceId: service.id }, withinMs, asker)
  if ((await currentCall(context, call)) === undefined) {
    throw new ControllerError('UNAUTHORIZED', {
      code: 'UNHANDLED',
      message: 'the right ended while a dial was waited for',
    })
  }
  if (trace === undefined) {
    const after = await explain(context, identity.id, service.id, 'Dial')
    const head = `No dial of ${between} came within ${withinMs / 1000} s.`
    const login = after.apiSessionId === null ? [`${quoted(identity.name)} is not logged in.`] : []
    return { ...none, outcome: 'no-dial', stoppedAt: null, text: [head, ...login, explanationText(after)].join('\n') }
  }
  const names = await namesOf(context, trace)
  const nameOf = (id: string) => names.get(id) ?? (id === service.id ? service.name : id)
  const steps = dialSteps(trace, nameOf)
  const head = `Dial of ${between} at ${instant(trace.at).toISOString()}, circuit ${trace.circuitId}`
  return {
    outcome: trace.failure === null ? 'connected' : 'stopped',
    stoppedAt: stationOf(trace) ?? null,
    identity,
    service,
    circuitId: trace.circuitId,
    at: trace.at,
    tookMs: trace.tookMs,
    steps,
    text: dialText(head, steps, dialVerdict(trace, nameOf)),
  }
}

/** The names of the identities and routers of a dial, by their ids. */
async function namesOf(
  { storage }: EngineContext,
  { identityId, routerId, attempts }: DialTrace,
): Promise<ReadonlyMap<string, string>> {
  const passed = attempts.flatMap(({ hostId, hops }) => [hostId, ...hops.map((hop) => hop.routerId)])
  const where = ids(new Set([identityId, routerId, ...passed]))
  return storage.read(async (tx) => {
    const named = [
      ...(await tx.collection(identities).find({ where })).items,
      ...(await tx.collection(edgeRouters).find({ where })).items,
      ...(await tx.collection(transitRouters).find({ where })).items,
    ]
    return new Map(named.map(({ id, name }) => [id, name]))
  })
}
