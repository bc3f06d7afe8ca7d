import type { Instrument, MetricAttributes } from '../../ports/telemetry/metrics.ts'

const UNITS: Readonly<Record<string, string>> = { s: '_seconds', By: '_bytes' }

/** The name of an instrument as OpenTelemetry's own exporters spell it for Prometheus, so that dashboards fit both. */
export function nameOf({ name, unit, kind }: Instrument): string {
  const base = `${name.replaceAll('.', '_')}${UNITS[unit] ?? ''}`
  return kind === 'counter' ? `${base}_total` : base
}

/** Labels without their braces; an empty text for none. */
export function labelsOf(attributes: MetricAttributes): string {
  const pairs = Object.entries(attributes)
  return pairs.map(([name, value]) => `${name.replaceAll('.', '_')}="${escaped(String(value))}"`).join(',')
}

export function seriesText(name: string, labels: string, value: number): string {
  return `${name}${labels === '' ? '' : `{${labels}}`} ${value}`
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
