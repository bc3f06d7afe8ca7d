/**
 * Spans and metrics of a controller in OpenTelemetry.
 *
 * @module portcullis/opentelemetry
 */

import { type Meter, metrics, type Tracer, trace } from '@opentelemetry/api'
import { checkOptions, type OptionRules } from '../../src/base/arguments.ts'
import type { Telemetry } from '../../src/index.ts'
import { VERSION } from '../../src/version.ts'
import { meterMetrics } from './meter-metrics.ts'
import { tracedRequest } from './traced-request.ts'

export interface OpenTelemetryOptions {
  /** Default: the one of the tracer provider that the program has registered. */
  readonly tracer?: Tracer
  /** Default: the one of the meter provider that the program has registered. */
  readonly meter?: Meter
  /**
   * Whether a request that names its trace (`traceparent`) is a part of it, and its caller decides by it what is sampled.
   * Where strangers call, `false` begins a trace of its own for each request, linked to that of its caller. Default: `true`.
   */
  readonly joinTraces?: boolean
}

const OPTIONS: OptionRules<OpenTelemetryOptions> = {
  tracer: { functions: ['startSpan'] },
  meter: { functions: ['createHistogram'] },
  joinTraces: 'boolean',
}

/**
 * Gives spans and metrics on to OpenTelemetry: a span of kind server for every request, named by method and route, and the
 * figures of `/metrics`, by the semantic conventions for HTTP. No name, id or secret of an entity stands in them. Whatever is
 * called while a request is answered belongs to its span, where the program has registered a context manager.
 *
 * @example
 * const controller = await createController({ storage, address: 'localhost:1280', telemetry: openTelemetry() })
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): Telemetry {
  checkOptions('openTelemetry', options, OPTIONS)
  const { joinTraces = true } = options
  const tracer = options.tracer ?? trace.getTracer('portcullis', VERSION)
  const meter = options.meter ?? metrics.getMeter('portcullis', VERSION)
  return {
    ...meterMetrics(meter),
    trace: (request, answer) => tracedRequest(tracer, joinTraces, request, answer),
  }
}
