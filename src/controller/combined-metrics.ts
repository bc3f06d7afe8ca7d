import { GAUGES } from '../network/gauges.ts'
import { nameOf } from '../platform/prometheus-metrics.ts'

/** A figure of Prometheus: its comments, and its samples by name and labels. */
interface Family {
  readonly comments: readonly string[]
  readonly type: string
  readonly samples: Map<string, number>
}

type Combination = (one: number, other: number) => number

function add(one: number, other: number): number {
  return one + other
}

const COMBINATIONS = { sum: add, max: Math.max, min: Math.min } as const
/** Gauges that are not listed count work in progress, such as requests that are being answered. */
const ACROSS: ReadonlyMap<string, Combination> = new Map([
  ...GAUGES.map((gauge) => [nameOf(gauge), COMBINATIONS[gauge.across ?? 'max']] as const),
  // File descriptors run out in one process, however many others have left.
  ['process_open_fds', Math.max] as const,
  ['process_max_fds', Math.min] as const,
])

/** Combines the answers of `/metrics` of several processes over one store, as `combineMetrics` promises. */
export function combined(texts: readonly string[], ended: readonly string[]): string {
  const all = new Map<string, Family>()
  for (const text of texts) takeIn(all, text, () => true)
  for (const text of ended) takeIn(all, text, ({ type }) => type !== 'gauge')
  return [...all.values()].map(textOf).join('')
}

function takeIn(all: Map<string, Family>, text: string, isCounted: (family: Family) => boolean): void {
  for (const [name, family] of familiesOf(text)) {
    if (!isCounted(family)) continue
    const known = all.get(name)
    if (known === undefined) {
      all.set(name, family)
      continue
    }
    const combine = family.type === 'gauge' ? (ACROSS.get(name) ?? add) : add
    for (const [sample, value] of family.samples) {
      const other = known.samples.get(sample)
      known.samples.set(sample, other === undefined ? value : combine(other, value))
    }
  }
}

function familiesOf(text: string): ReadonlyMap<string, Family> {
  const families = new Map<string, Family>()
  let family: Family | undefined
  let help = ''
  for (const line of text.split('\n')) {
    const [, name = '', type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? []
    if (line.startsWith('# HELP ')) help = line
    else if (type !== undefined) {
      family = { comments: [help, line], type, samples: new Map() }
      families.set(name, family)
    } else {
      const end = line.lastIndexOf(' ')
      if (end > 0) family?.samples.set(line.slice(0, end), Number(line.slice(end + 1)))
    }
  }
  return families
}

function textOf({ comments, samples }: Family): string {
  return `${[...comments, ...[...samples].map(([sample, value]) => `${sample} ${value}`)].join('\n')}\n`
}
