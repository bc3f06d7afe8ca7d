import { quoted } from '../../../base/text.ts'
import type { CircuitFailure, DialFailureCause } from '../../access/explain/service-reach.rules.ts'
import { DIAL_FAILURE_TEXTS, ROUTER_FAILURE_TEXTS } from '../../access/explain/works-now.rules.ts'

/** A router of the path of an attempt. */
export interface TracedHop {
  readonly routerId: string
  /** The link on which it is reached from the router before; null for the first one. */
  readonly link: { readonly id: string; readonly latencyMs: number | null } | null
  /** Milliseconds after the request at which it answered; null where it did not. */
  readonly answeredMs: number | null
  /** Why it did not do its part; null where it did, and where it did not answer. */
  readonly cause: DialFailureCause | null
}

/** One attempt of a dial: a terminator that was chosen, and what each router of the way to it answered. */
export interface TracedAttempt {
  readonly terminatorId: string
  /** Who hosts there: an identity, a router for itself, or nobody, an empty text. */
  readonly hostId: string
  /** The cost of the path. */
  readonly cost: number
  /** Milliseconds after the request at which the routers were asked. */
  readonly askedMs: number
  readonly hops: readonly TracedHop[]
  /** The router that made it fail, and why; null where none did. */
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
  /** Milliseconds after the request at which the access was judged; null where it was refused. */
  readonly allowedMs: number | null
  readonly attempts: readonly TracedAttempt[]
  /** Why it came to nothing; null where it got through. */
  readonly failure: CircuitFailure | 'not-allowed' | 'client-gave-up' | null
  /** Why the access was refused, in words; null otherwise. */
  readonly refusal: string | null
  readonly tookMs: number
}

/** Where a dial stopped, in the order that it passes them. */
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
  /** Milliseconds after the request; null where it is not known. */
  readonly afterMs: number | null
  /** The router that it happened at; null for the controller. */
  readonly routerId: string | null
  readonly linkId: string | null
  readonly text: string
}

/** Tells where a dial stopped; undefined where it got through. */
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

/** The steps of a dial in the order of the way, with the names of what they are about. */
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

/** Says in a sentence whether a dial got through, or where it stopped. */
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
