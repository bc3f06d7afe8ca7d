/**
 * Spans and metrics of a controller in OpenTelemetry.
 *
 * @module portcullis/opentelemetry
 */
import {
  type Attributes,
  type Context,
  context,
  type Meter,
  metrics,
  type ObservableGauge,
  propagation,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { checkOptions, type OptionRules } from '../../../src/base/arguments.ts'
import type { Instrument, Metrics, RequestSpan, Telemetry, TracedRequest } from '../../../src/index.ts'
import { VERSION } from '../../../src/version.ts'

export interface OpenTelemetryOptions {
  /** Default: that of the tracer provider that the program has registered. */
  readonly tracer?: Tracer
  /** Default: that of the meter provider that the program has registered. */
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
 * figures of `/metrics`, by the semantic conventions for HTTP. No name, id or secret of an entity stands in them. Calls
 * during a request belong to its span, where the program has registered a context manager.
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

type Recorder = (value: number, attributes?: Attributes) => void

/** Gives figures on to a meter. Instruments are made when they are first needed. */
function meterMetrics(meter: Meter): Metrics {
  const recorders = new Map<string, Recorder>()

  function recorderOf(instrument: Instrument): Recorder {
    const recorder = recorders.get(instrument.name) ?? newRecorder(meter, instrument)
    recorders.set(instrument.name, recorder)
    return recorder
  }

  return {
    record: (instrument, value, attributes) => recorderOf(instrument)(value, attributes),
    observe: (instruments, read) => {
      const gauges = new Map<string, ObservableGauge>()
      for (const { name, unit, description } of instruments) {
        gauges.set(name, meter.createObservableGauge(name, { unit, description }))
      }
      const observables = [...gauges.values()]
      const callback: Parameters<Meter['addBatchObservableCallback']>[0] = async (result) => {
        for (const { instrument, value, attributes } of await read()) {
          const gauge = gauges.get(instrument.name)
          if (gauge !== undefined) result.observe(gauge, value, attributes)
        }
      }
      meter.addBatchObservableCallback(callback, observables)
      return () => meter.removeBatchObservableCallback(callback, observables)
    },
  }
}

function newRecorder(meter: Meter, { name, kind, unit, description, boundaries }: Instrument): Recorder {
  const options = { unit, description }
  if (kind === 'histogram') {
    const advice = boundaries === undefined ? {} : { advice: { explicitBucketBoundaries: [...boundaries] } }
    const histogram = meter.createHistogram(name, { ...options, ...advice })
    return (value, attributes) => histogram.record(value, attributes)
  }
  const sum = kind === 'counter' ? meter.createCounter(name, options) : meter.createUpDownCounter(name, options)
  return (value, attributes) => sum.add(value, attributes)
}

/** Runs `answer` as a span of its own, which is the active span of all that it calls. */
function tracedRequest<T>(
  tracer: Tracer,
  joinTraces: boolean,
  request: TracedRequest,
  answer: (span: RequestSpan) => Promise<T>,
): Promise<T> {
  const { method, scheme, remoteAddress } = request
  const attributes = {
    'http.request.method': method,
    'url.scheme': scheme,
    ...(remoteAddress !== undefined && { 'client.address': remoteAddress }),
  }
  const { parent, options } = placeOf(request, joinTraces)
  const span = tracer.startSpan(nameOf(method), { kind: SpanKind.SERVER, attributes, ...options }, parent)
  return context.with(trace.setSpan(parent, span), async () => {
    try {
      return await answer(requestSpan(span, method))
    } finally {
      span.end()
    }
  })
}

/** Where a span belongs: to the span that the host has begun for the request, else to the trace that the request names. */
function placeOf(request: TracedRequest, joinTraces: boolean): { parent: Context; options: SpanOptions } {
  const active = context.active()
  if (trace.getSpan(active) !== undefined) return { parent: active, options: {} }
  const named = propagation.extract(active, request, HEADERS)
  if (joinTraces) return { parent: named, options: {} }
  const caller = trace.getSpanContext(named)
  return { parent: active, options: { root: true, ...(caller !== undefined && { links: [{ context: caller }] }) } }
}

const HEADERS = {
  get: (request: TracedRequest, name: string) => request.header(name),
  // Propagators ask for the headers that they know.
  keys: () => [],
}

function requestSpan(span: Span, method: string): RequestSpan {
  return {
    matched: (requestId, route) => {
      span.updateName(`${nameOf(method)} ${route}`)
      span.setAttributes({ 'http.route': route, 'portcullis.request.id': requestId })
    },
    answered: (status, error) => {
      span.setAttribute('http.response.status_code', status)
      if (error instanceof Error) span.recordException(error)
      if (status < 500) return
      span.setAttribute('error.type', error instanceof Error ? error.name : String(status))
      span.setStatus({ code: SpanStatusCode.ERROR })
    },
  }
}

/** The conventions name spans of unknown methods `HTTP`. */
function nameOf(method: string): string {
  return method === '_OTHER' ? 'HTTP' : method
}
