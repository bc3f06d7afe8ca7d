import { seriesText } from './exposition.ts'

/** How many values fell into which bucket. */
export interface HistogramState {
  readonly boundaries: readonly number[]
  /** Values up to each boundary and above the one before; the last counts those above all. */
  readonly counts: number[]
  sum: number
}

export function newHistogram(boundaries: readonly number[]): HistogramState {
  return { boundaries, counts: new Array(boundaries.length + 1).fill(0), sum: 0 }
}

export function putInto(histogram: HistogramState, value: number): void {
  const found = histogram.boundaries.findIndex((boundary) => value <= boundary)
  const bucket = found < 0 ? histogram.boundaries.length : found
  histogram.counts[bucket] = (histogram.counts[bucket] ?? 0) + 1
  histogram.sum += value
}

/** Buckets count all values up to their boundary. */
export function histogramLines(
  name: string,
  labels: string,
  { boundaries, counts, sum }: HistogramState,
): readonly string[] {
  let below = 0
  const buckets = counts.map((count, at) => {
    below += count
    const end = `le="${boundaries[at] ?? '+Inf'}"`
    return seriesText(`${name}_bucket`, labels === '' ? end : `${labels},${end}`, below)
  })
  return [...buckets, seriesText(`${name}_sum`, labels, sum), seriesText(`${name}_count`, labels, below)]
}
