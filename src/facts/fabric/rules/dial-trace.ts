import { quoted } from '../../../base/text.ts'
import type { CircuitFailure, DialFailureCause } from '../../access/explain/service-reach.rules.ts'
import { DIAL_FAILURE_TEXTS, ROUTER_FAILURE_TEXTS } from '../../access/explain/works-now.rules.ts'

/** A router of the path of an attempt. */
export interface TracedHop {
  readonly routerId: string
  /** The link from the previous router; null for the first router. */
  readonly link: { readonly id: string; readonly latencyMs: number | null } | null
  /** Milliseconds from the request to its answer; null without an answer. */
  readonly answeredMs: number | null
  /** The cause of its failure; null for success, and without an answer. */
  readonly cause: DialFailureCause | null
}

/** An attempt of a dial: the chosen terminator, and the answers of the routers on the path to it. */
export interface TracedAttempt {
  readonly terminatorId: string
  /** The host of the terminator: an identity, or a router for itself; empty for an address that an operator registered. */
  readonly hostId: string
  /** The cost of the path. */
  readonly cost: number
  /** Milliseconds from the request until the routers were asked. */
  readonly askedMs: number
  readonly hops: readonly TracedHop[]
  /** The failed router, and the cause; null without a failure. */
  readonly failure: { readonly routerId: string; readonly cause: DialFailureCause } | null
}

/** A dial from the request of a router until its answer. */
export interface DialTrace {
  readonly circuitId: string
  readonly identityId: string
  readonly serviceId: string
  /** The router that asked. */
  readonly routerId: string
  /** Epoch ms of the request. */
  readonly at: number
  /** Milliseconds from the request until the access was allowed; null for a refusal. */
  readonly allowedMs: number | null
  readonly attempts: readonly TracedAttempt[]
  /** The reason of the failure; null for a successful dial. */
  readonly failure: CircuitFailure | 'not-allowed' | 'client-gave-up' | null
  /** The reason of a refused access, in words; null otherwise. */
  readonly refusal: string | null
  readonly tookMs: number
}

/** The stations at which a dial may stop, in their order. */
export const DIAL_STATIONS = [
  'policies',
  'edge-routers',
  'encryption',
  'terminators',
  'links',
  'router',
  'host',
  'client',
] as const
export type DialStation = (typeof DIAL_STATIONS)[number]

/** A step of a dial. */
export interface DialStep {
  /** Milliseconds after the request; null if unknown. */
  readonly afterMs: number | null
  /** The router of the step; null for the controller. */
  readonly routerId: string | null
  readonly linkId: string | null
  readonly text: string
}

/** The station at which a dial stopped; undefined for a successful dial. */
export function stationOf({ failure, attempts }: DialTrace): DialStation | undefined {
  switch (failure) {
    case null:
      return undefined
    case 'not-allowed':
      return 'policies'
    case 'refused':
      return 'encryption'
    case 'client-gave-up':
      return 'client'
    case 'no-path':
      return 'links'
    case 'routers-failed': {
      const last = attempts.at(-1)
      const isAtEnd = last?.failure?.routerId === last?.hops.at(-1)?.routerId
      return isAtEnd && last?.failure?.cause !== 'disconnected' ? 'host' : 'router'
    }
    default:
      return 'terminators'
  }
}

/** The steps of a dial in the order of the path, with the names of their entities. */
export function dialSteps(trace: DialTrace, nameOf: (id: string) => string): readonly DialStep[] {
  const name = (id: string) => quoted(nameOf(id))
  const step = (afterMs: number | null, text: string, routerId: string | null = null, linkId: string | null = null) => {
    return { afterMs, routerId, linkId, text }
  }
  const { identityId, serviceId, routerId, allowedMs, tookMs } = trace
  const steps: DialStep[] = [
    step(0, `${name(routerId)} asked for a circuit on behalf of ${name(identityId)}`, routerId),
  ]
  if (allowedMs !== null) steps.push(step(allowedMs, `${name(identityId)} may dial ${name(serviceId)}`))
  for (const attempt of trace.attempts) steps.push(...attemptSteps(attempt))
  const isLaid = trace.failure === null || trace.failure === 'client-gave-up'
  if (isLaid) steps.push(step(tookMs, `${name(routerId)} was told that the circuit is there`, routerId))
  else steps.push(step(tookMs, `${name(routerId)} was refused: ${whyOf(trace)}`, routerId))
  return steps

  function attemptSteps({ hostId, cost, askedMs, hops }: TracedAttempt): readonly DialStep[] {
    const way = hops.map((hop) => name(hop.routerId)).join(', ')
    const host = hostId === '' ? 'a terminator' : `the host ${name(hostId)}`
    const last = hops.at(-1)?.routerId ?? ''
    const chosen = step(
      askedMs,
      `${host} at ${name(last)} was chosen, and the routers were asked: ${way} (cost ${cost})`,
    )
    return [chosen, ...hops.map((hop, position) => hopStep(hop, position === hops.length - 1, hostId))]
  }

  function hopStep({ routerId, link, answeredMs, cause }: TracedHop, isLast: boolean, hostId: string): DialStep {
    const over = link === null ? '' : ` over link ${link.id}${link.latencyMs === null ? '' : ` (${link.latencyMs} ms)`}`
    const done = isLast ? `reached ${hostId === '' ? 'the host' : name(hostId)}, which answered` : 'is ready'
    const failed = cause === null ? 'did not answer' : `failed: ${ROUTER_FAILURE_TEXTS[cause]}`
    const text = `${name(routerId)}${over} ${answeredMs !== null && cause === null ? done : failed}`
    return step(answeredMs, text, routerId, link?.id ?? null)
  }
}

/** The outcome of a dial as a sentence: success, or the station at which it stopped. */
export function dialVerdict(trace: DialTrace, nameOf: (id: string) => string): string {
  const { tookMs, attempts } = trace
  const station = stationOf(trace)
  if (station === undefined) return `It got through in ${tookMs} ms.`
  return `It stopped after ${tookMs} ms ${placeOf(station)}: ${whyOf(trace)}.`

  function placeOf(at: DialStation): string {
    const failed = attempts.at(-1)?.failure
    if (at === 'router') return `at the router ${quoted(nameOf(failed?.routerId ?? ''))}`
    if (at === 'host') return `at the host, asked by ${quoted(nameOf(failed?.routerId ?? ''))}`
    return PLACES[at]
  }
}

const PLACES: Readonly<Record<Exclude<DialStation, 'router' | 'host'>, string>> = {
  policies: 'at the policies',
  'edge-routers': 'before an edge router',
  encryption: 'at the encryption that the service asks for',
  terminators: 'at the choice of a terminator',
  links: 'at the choice of a way',
  client: 'at the client',
}

function whyOf({ failure, refusal, attempts }: DialTrace): string {
  if (failure === null) return ''
  if (failure === 'client-gave-up') return 'it had given up before the answer came, and did not start the circuit'
  if (failure === 'not-allowed') return refusal ?? 'the access is refused'
  const cause = attempts.at(-1)?.failure?.cause
  return failure === 'routers-failed' && cause !== undefined ? ROUTER_FAILURE_TEXTS[cause] : DIAL_FAILURE_TEXTS[failure]
}

const LONGEST_TIME = 6

/** The steps and the verdict as lines for people. */
export function dialText(head: string, steps: readonly DialStep[], verdict: string): string {
  const lines = steps.map(({ afterMs, text }) => {
    return `  ${(afterMs === null ? '-' : String(afterMs)).padStart(LONGEST_TIME)} ms  ${text}`
  })
  return [head, ...lines, verdict].join('\n')
}
