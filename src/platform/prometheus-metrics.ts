import type { Instrument, MetricAttributes, Metrics, Reading } from '../ports/telemetry.ts'

/** Keeps figures for a scraping server. */
export interface PrometheusMetrics extends Metrics {
  /** All figures in the text form of Prometheus. */
  text(): Promise<string>
}

interface Series {
  readonly instrument: Instrument
  /** Values by the text of their labels. */
  readonly sums: Map<string, number>
  readonly histograms: Map<string, HistogramState>
}

/** Keeps figures in memory: one number for each combination of attributes, which callers cannot choose. */
export function createPrometheusMetrics(): PrometheusMetrics {
  const recorded = new Map<string, Series>()
  const observed = new Set<{ readonly read: () => Promise<readonly Reading[]> }>()

  function seriesOf(all: Map<string, Series>, instrument: Instrument): Series {
    const known = all.get(instrument.name) ?? { instrument, sums: new Map(), histograms: new Map() }
    all.set(instrument.name, known)
    return known
  }

  function record(instrument: Instrument, value: number, attributes: MetricAttributes = {}): void {
    const { sums, histograms } = seriesOf(recorded, instrument)
    const labels = labelsOf(attributes)
    if (instrument.kind !== 'histogram') {
      sums.set(labels, (sums.get(labels) ?? 0) + value)
      return
    }
    const histogram = histograms.get(labels) ?? newHistogram(instrument.boundaries ?? [])
    histograms.set(labels, histogram)
    putInto(histogram, value)
  }

  async function gauges(): Promise<readonly Series[]> {
    const all = new Map<string, Series>()
    for (const { read } of observed) {
      for (const { instrument, value, attributes = {} } of await read()) {
        seriesOf(all, instrument).sums.set(labelsOf(attributes), value)
      }
    }
    return [...all.values()]
  }

  return {
    record,
    observe: (_gauges, read) => {
      const reader = { read }
      observed.add(reader)
      return () => observed.delete(reader)
    },
    text: async () => [...recorded.values(), ...(await gauges())].map(textOf).join(''),
  }
}

function textOf({ instrument, sums, histograms }: Series): string {
  const name = nameOf(instrument)
  const type = instrument.kind === 'up-down-counter' ? 'gauge' : instrument.kind
  const lines = [
    `# HELP ${name} ${instrument.description}`,
    `# TYPE ${name} ${type}`,
    ...[...sums].map(([labels, value]) => seriesText(name, labels, value)),
    ...[...histograms].flatMap(([labels, histogram]) => histogramLines(name, labels, histogram)),
  ]
  return `${lines.join('\n')}\n`
}

/** The counts of values in the buckets of a histogram. */
export interface HistogramState {
  readonly boundaries: readonly number[]
  /** Values up to each boundary and above the previous boundary; the last count is of values above all boundaries. */
  readonly counts: number[]
  sum: number
}

function newHistogram(boundaries: readonly number[]): HistogramState {
  return { boundaries, counts: new Array(boundaries.length + 1).fill(0), sum: 0 }
}

function putInto(histogram: HistogramState, value: number): void {
  const found = histogram.boundaries.findIndex((boundary) => value <= boundary)
  const bucket = found < 0 ? histogram.boundaries.length : found
  histogram.counts[bucket] = (histogram.counts[bucket] ?? 0) + 1
  histogram.sum += value
}

/** Buckets count all values up to their boundary. */
function histogramLines(name: string, labels: string, { boundaries, counts, sum }: HistogramState): readonly string[] {
  let below = 0
  const buckets = counts.map((count, at) => {
    below += count
    const end = `le="${boundaries[at] ?? '+Inf'}"`
    return seriesText(`${name}_bucket`, labels === '' ? end : `${labels},${end}`, below)
  })
  return [...buckets, seriesText(`${name}_sum`, labels, sum), seriesText(`${name}_count`, labels, below)]
}

const UNITS: Readonly<Record<string, string>> = { s: '_seconds', By: '_bytes' }

/** The name that OpenTelemetry's own exporters give an instrument in Prometheus, so that dashboards fit both. */
export function nameOf({ name, unit, kind }: Instrument): string {
  const base = `${name.replaceAll('.', '_')}${UNITS[unit] ?? ''}`
  return kind === 'counter' ? `${base}_total` : base
}

/** Labels without their braces; an empty text without attributes. */
function labelsOf(attributes: MetricAttributes): string {
  const pairs = Object.entries(attributes)
  return pairs.map(([name, value]) => `${name.replaceAll('.', '_')}="${escaped(String(value))}"`).join(',')
}

function seriesText(name: string, labels: string, value: number): string {
  return `${name}${labels === '' ? '' : `{${labels}}`} ${value}`
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
