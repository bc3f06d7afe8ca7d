import { context, propagation, type SpanContext, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import {
  AggregationTemporality,
  DataPointType,
  InMemoryMetricExporter,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { SYSTEM_CALL } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { type OpenTelemetryOptions, openTelemetry } from 'portcullis/opentelemetry'
import { createTestController, recordingLogger, TEST_ADMIN } from 'portcullis/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { faultyStorage } from '../support/faulty-storage.ts'

const spans = new InMemorySpanExporter()
const tracers = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: spans })] })
const tracer = tracers.getTracer('test')
const CALLER = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
})

afterEach(() => spans.reset())

afterAll(() => {
  context.disable()
  propagation.disable()
})

function traced(options: OpenTelemetryOptions & Parameters<typeof createTestController>[0] = {}) {
  const { joinTraces, ...others } = options
  const telemetry = openTelemetry({ tracer, ...(joinTraces === undefined ? {} : { joinTraces }) })
  return createTestController({ ...others, telemetry })
}

const request = (path: string, init?: RequestInit) => new Request(`https://controller.test:1280${path}`, init)

describe('the span of a request', () => {
  it('has the template of the path as its name, and neither ids nor secrets', async () => {
    await using controller = await traced()
    const { id } = await controller.engine.services.create(SYSTEM_CALL, { name: 'payroll' })
    await controller.admin.call('GET /services/{id}', { params: { id }, query: { token: 'very-secret' } as never })
    const [login, span] = spans.getFinishedSpans()
    expect(login?.name).toBe('POST /edge/management/v1/authenticate')
    expect(span?.name).toBe('GET /edge/management/v1/services/{id}')
    expect(span?.kind).toBe(SpanKind.SERVER)
    expect(span?.attributes).toMatchObject({
      'http.request.method': 'GET',
      'url.scheme': 'https',
      'http.route': '/edge/management/v1/services/{id}',
      'http.response.status_code': 200,
      'portcullis.request.id': expect.any(String),
    })
    const told = JSON.stringify([span?.name, span?.attributes, span?.events])
    for (const secret of [id, 'payroll', 'very-secret', TEST_ADMIN.password]) expect(told).not.toContain(secret)
  })

  it.each([
    ['GET', '/edge/management/v1/services', 401, 'GET /edge/management/v1/services'],
    ['GET', '/no/such/path/4711', 404, 'GET'],
    ['MADEUP', '/edge/client/v1/version', 405, 'HTTP'],
  ])('%s %s is answered %i as the span %s, which did not fail', async (method, path, status, name) => {
    await using controller = await traced()
    await controller.fetch(request(path, { method }))
    const [span] = spans.getFinishedSpans()
    expect(span).toMatchObject({ name, status: { code: SpanStatusCode.UNSET }, events: [] })
    expect(span?.attributes['http.response.status_code']).toBe(status)
    expect(JSON.stringify(span?.attributes)).not.toMatch(/4711|MADEUP/)
  })

  it('tells what nobody foresaw', async () => {
    const storage = faultyStorage(memoryStorage())
    const logger = recordingLogger()
    await using controller = await traced({ storage, logger })
    storage.fault = { call: 1, when: 'before' }
    const answer = await controller.fetch(request('/edge/client/v1/controllers', { headers: { 'zt-session': 'x' } }))
    const [span] = spans.getFinishedSpans()
    expect(span?.attributes['http.response.status_code']).toBe(answer.status)
    expect(answer.status).toBeGreaterThanOrEqual(500)
    expect(span?.status.code).toBe(SpanStatusCode.ERROR)
    expect(span?.events.map(({ name }) => name)).toEqual(['exception'])
    expect(span?.attributes['portcullis.request.id']).toBe(logger.entries[0]?.fields?.requestId)
  })
})

describe('the trace of a request', () => {
  const parentOf = () => spans.getFinishedSpans()[0]?.parentSpanContext
  const ask = (controller: Awaited<ReturnType<typeof traced>>) =>
    controller.fetch(request('/edge/client/v1/version', { headers: { traceparent: CALLER } }))

  it('is the one that it names', async () => {
    await using controller = await traced()
    await ask(controller)
    const named = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' }
    expect(parentOf()).toMatchObject(named satisfies Partial<SpanContext>)
  })

  it('is its own, linked to the one that it names, where callers are strangers', async () => {
    await using controller = await traced({ joinTraces: false })
    await ask(controller)
    const [span] = spans.getFinishedSpans()
    expect(span?.parentSpanContext).toBeUndefined()
    expect(span?.spanContext().traceId).not.toBe('0af7651916cd43dd8448eb211c80319c')
    expect(span?.links.map(({ context: { spanId } }) => spanId)).toEqual(['b7ad6b7169203331'])
  })

  it('is that of the host, which has begun a span for the request', async () => {
    await using controller = await traced()
    await tracer.startActiveSpan('host', async (host) => {
      await ask(controller)
      expect(parentOf()?.spanId).toBe(host.spanContext().spanId)
      host.end()
    })
  })

  it('holds what is called while the request is answered', async () => {
    const within: (string | undefined)[] = []
    await using controller = await traced({
      authorize: () => {
        within.push(trace.getActiveSpan()?.spanContext().spanId)
        return true
      },
    })
    await controller.admin.call('GET /services')
    expect(within).toEqual([spans.getFinishedSpans().at(-1)?.spanContext().spanId])
  })
})

/** The measurements that the SDK of OpenTelemetry was told, as lines of Prometheus. */
function linesOf(metrics: readonly MetricData[]): readonly string[] {
  return metrics.flatMap((metric) => {
    const { name, unit } = metric.descriptor
    const isCounter = metric.dataPointType === DataPointType.SUM && metric.isMonotonic
    const base = `${name.replaceAll('.', '_')}${unit === 's' ? '_seconds' : ''}${isCounter ? '_total' : ''}`
    return metric.dataPoints.flatMap(({ attributes, value }) => {
      const pairs = Object.entries(attributes).map(([key, told]) => `${key.replaceAll('.', '_')}="${told}"`)
      const labels = pairs.length === 0 ? '' : `{${pairs.join(',')}}`
      return typeof value === 'number'
        ? [`${base}${labels} ${value}`]
        : [`${base}_count${labels} ${value.count}`, `${base}_sum${labels} ${value.sum}`]
    })
  })
}

describe('the metrics of a controller', () => {
  it('are those of /metrics', async () => {
    const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
    const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 2 ** 30 })
    const meter = new MeterProvider({ readers: [reader] }).getMeter('test')
    const storage = faultyStorage(memoryStorage())
    const controller = await createTestController({ telemetry: openTelemetry({ meter }), probes: true, storage })
    await controller.admin.call('POST /services', { body: { name: 'wiki' } })
    const laptop = await controller.enroll('laptop')
    await expect(laptop.call('POST /sessions', { body: { serviceId: 'nowhere', type: 'Dial' } })).rejects.toThrow()
    await controller.fetch(request('/edge/client/v1/authenticate?method=password', { method: 'POST', body: '{}' }))

    await reader.forceFlush()
    const { metrics = [] } = exporter.getMetrics().at(-1)?.scopeMetrics[0] ?? {}
    const text = await (await controller.fetch(request('/metrics'))).text()
    const shown = linesOf(metrics)
    expect(shown.length).toBeGreaterThan(30)
    // Texts go when the runtime collects garbage, which may be between the two.
    const lasting = shown.filter((line) => !line.startsWith('portcullis_wire_texts'))
    expect(text.split('\n')).toEqual(expect.arrayContaining(lasting))
    expect(text).toContain('portcullis_logins_total{method="cert",outcome="success"} 1\n')
    expect(text).toContain('portcullis_enrollments_total{method="ott"} 1\n')
    expect(text).toContain('portcullis_access_index_size{kind="services"} 1\n')
    expect(text).toContain('portcullis_access_index_lag 0\n')
    expect(text).toContain('portcullis_routers_connected 0\n')
    expect(Number(/^portcullis_owner_counts_size (\d+)$/m.exec(text)?.[1])).toBeGreaterThan(0)
    expect(text).not.toMatch(/wiki|laptop|nowhere/)

    await controller.close()
    const { calls } = storage
    await reader.forceFlush()
    expect(storage.calls).toBe(calls)
    await reader.shutdown()
  })
})
