import {
  type Context,
  context,
  propagation,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { RequestSpan, TracedRequest } from '../../src/index.ts'

/** Runs `answer` as a span of its own, within which whatever it calls finds itself. */
export function tracedRequest<T>(
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
