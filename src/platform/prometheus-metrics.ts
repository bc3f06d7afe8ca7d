import type { Instrument, MetricAttributes, Metrics, Reading } from '../../ports/telemetry/metrics.ts'
import { labelsOf, nameOf, seriesText } from './exposition.ts'
import { type HistogramState, histogramLines, newHistogram, putInto } from './histogram.ts'

/** Keeps figures for a server that comes for them. */
export interface PrometheusMetrics extends Metrics {
  /** All figures in the text form of Prometheus. */
  text(): Promise<string>
}

interface Series {
  readonly instrument: Instrument
  /** By the text of their labels. */
  readonly sums: Map<string, number>
  readonly histograms: Map<string, HistogramState>
}

/** Keeps figures in memory: as many numbers as there are combinations of attributes, which callers do not make up. */
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
