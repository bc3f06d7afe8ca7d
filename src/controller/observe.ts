import type { Composition } from './compose-engine.ts'
import type { ControllerOptions } from './controller-options.ts'
import { countEvents } from './engine/telemetry/event-counters.ts'
import { GAUGES, readGauges } from './engine/telemetry/gauges.ts'
import type { PlainFetch } from './http/exchange/plain-exchange.ts'
import { observedFetch } from './http/observed-fetch.ts'
import type { WatchedFetch } from './http/pipeline/request-watch.ts'
import { withProbes } from './http/probes.ts'
import { createPrometheusMetrics } from './platform/prometheus/prometheus-metrics.ts'
import type { Metrics } from './ports/telemetry/metrics.ts'

/** A controller's HTTP function, watched as its host wants it. */
export interface Observed {
  readonly fetch: PlainFetch
  /** Nobody is asked for gauges any more. */
  stop(): void
}

/**
 * Measures a controller for the telemetry of its host and for `/metrics`: both are told the same figures. Where neither is
 * asked for nothing is measured.
 */
export function observe(
  fetch: WatchedFetch,
  { engine, events, access, presence, clock, otherClocks }: Composition,
  { probes, telemetry, storage }: ControllerOptions,
  isClosed: () => boolean,
): Observed {
  const prometheus = probes ? createPrometheusMetrics() : undefined
  const sinks = [prometheus, telemetry].filter((sink) => sink !== undefined)
  if (sinks.length === 0) return { fetch: (request, connection) => fetch(request, connection), stop: () => undefined }

  const startedAt = clock.now()
  const source = {
    index: () => access.state(),
    storeRevision: () => storage.read(async ({ revision }) => revision),
    connectedRouters: () => presence.connectedRouters(),
    uptimeMs: () => clock.now() - startedAt,
  }
  const metrics = toAll(sinks)
  countEvents(events, metrics)
  const stop = metrics.observe(GAUGES, () => readGauges(source))
  const measured = observedFetch(fetch, { metrics, telemetry, elapsedMs: () => performance.now() })
  if (prometheus === undefined) return { fetch: measured, stop }
  const probed = {
    isClosed,
    isReady: () => storage.read(async () => true),
    clockBehindMs: () => otherClocks.behindMs(),
    count: (address: string | undefined) => engine.requestRates.countAnonymous(address),
    metrics: () => prometheus.text(),
  }
  return { fetch: withProbes(measured, probed), stop }
}

function toAll(sinks: readonly Metrics[]): Metrics {
  return {
    record: (...measured) => {
      for (const sink of sinks) sink.record(...measured)
    },
    observe: (...gauges) => {
      const stops = sinks.map((sink) => sink.observe(...gauges))
      return () => {
        for (const stop of stops) stop()
      }
    },
  }
}
