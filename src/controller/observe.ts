import { callIsolated } from '../concurrency/call-isolated.ts'
import { runtime } from '../concurrency/process-runtime.ts'
import { contextOf } from '../engine/entity-services.ts'
import type { PlainFetch } from '../http/exchange.ts'
import { observedFetch } from '../http/observed-fetch.ts'
import type { WatchedFetch } from '../http/pipeline/handler.ts'
import { withProbes } from '../http/probes.ts'
import { countEvents, GAUGES, readGauges } from '../network/gauges.ts'
import { CertificateAnswer } from '../pki/pki-status.ts'
import { createPrometheusMetrics } from '../platform/prometheus-metrics.ts'
import type { Metrics, Telemetry } from '../ports/telemetry.ts'
import { deliveryFigures } from '../webhooks/delivery-work.ts'
import type { Composition } from './compose-engine.ts'
import type { ControllerOptions } from './controller-options.ts'
import { Readiness } from './readiness.ts'

/** A controller's HTTP function, watched as its host wants it. */
export interface Observed {
  readonly fetch: PlainFetch
  /** The gauges are not read any more. */
  stop(): void
}

/**
 * Measures a controller for the telemetry of its host and for `/metrics`: both get the same figures. Where neither is
 * asked for nothing is measured.
 */
export function observe(
  fetch: WatchedFetch,
  { engine, events, access, presence, ownerCounts, clock, otherClocks, logger }: Composition,
  { probes, telemetry, storage }: ControllerOptions,
  isClosed: () => boolean,
): Observed {
  const prometheus = probes ? createPrometheusMetrics() : undefined
  const sinks = [prometheus, telemetry].filter((sink) => sink !== undefined)
  if (sinks.length === 0) return { fetch, stop: () => undefined }

  const startedAt = clock.now()
  const due = new CertificateAnswer({ clock, events }, async () => (await engine.keyRotation.status()).due)
  const readiness = new Readiness({ storage, access, writes: contextOf(engine).writes, clock, logger })
  const source = {
    index: () => access.state(),
    storeRevision: () => storage.read(async ({ revision }) => revision),
    refusesWrites: () => readiness.refusesWrites(),
    texts: () => engine.reader.texts.size(),
    rememberedOwners: () => ownerCounts.size,
    connectedRouters: () => presence.connectedRouters(),
    dataPlane: () => contextOf(engine).dataPlane.view?.figures(),
    deliveries: () => storage.read((tx) => deliveryFigures(tx, clock.now())),
    certificates: () => due.read(),
    uptimeMs: () => clock.now() - startedAt,
  }
  const failed = (error: unknown) => logger.error('a figure could not be given on', { error: String(error) })
  const metrics = toAll(sinks, failed)
  countEvents(events, metrics)
  const stop = metrics.observe(GAUGES, () => readGauges(source))
  const measured = observedFetch(fetch, {
    metrics,
    telemetry: telemetry && isolated(telemetry, failed),
    elapsedMs: () => runtime.monotonic(),
  })
  if (prometheus === undefined) return { fetch: measured, stop }
  readiness.begin()
  const probed = {
    isClosed,
    problem: () => readiness.problem(),
    clockBehindMs: () => otherClocks.behindMs(),
    count: (address: string | undefined) => engine.requestRates.countAnonymous(address),
    metrics: () => prometheus.text(),
  }
  return { fetch: withProbes(measured, probed), stop }
}

/** The telemetry of a host; a request goes on where a span of it throws. */
function isolated(telemetry: Telemetry, onFailure: (error: unknown) => void): Pick<Telemetry, 'trace'> {
  return {
    trace: (request, answer) =>
      telemetry.trace(request, (span) =>
        answer({
          matched: (...told) => callIsolated(() => span.matched(...told), onFailure),
          answered: (...told) => callIsolated(() => span.answered(...told), onFailure),
        }),
      ),
  }
}

/** Passes figures on to every sink. A sink that throws takes nothing from the others, nor from the measured code. */
function toAll(sinks: readonly Metrics[], onFailure: (error: unknown) => void): Metrics {
  return {
    record: (...measured) => {
      for (const sink of sinks) callIsolated(() => sink.record(...measured), onFailure)
    },
    observe: (...gauges) => {
      const stops = sinks.map((sink) => sink.observe(...gauges))
      return () => {
        for (const stop of stops) stop()
      }
    },
  }
}
