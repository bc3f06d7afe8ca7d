const NUMBER = new Intl.NumberFormat()

/** A number as the reader's locale writes it. */
export function numberText(count: number): string {
  return NUMBER.format(count)
}

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const

/** A number of bytes in the largest unit that it fills: `1.2 MB`. */
export function bytesText(bytes: number): string {
  const place = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3))
  const style = { style: 'unit', unit: UNITS[place] ?? 'byte', unitDisplay: 'short', maximumFractionDigits: 1 } as const
  return new Intl.NumberFormat(undefined, style).format(bytes / 1000 ** place)
}

/** Bytes a second: `1.2 MB/s`; a dash where nothing flows. */
export function rateText(bytesPerSecond: number): string {
  return bytesPerSecond === 0 ? '–' : `${bytesText(Math.round(bytesPerSecond))}/s`
}

/** A latency in milliseconds; a dash where it is not measured. */
export function latencyText(ms: number | null): string {
  return ms === null ? '–' : `${numberText(Math.round(ms * 10) / 10)} ms`
}
