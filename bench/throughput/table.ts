import { writeFile } from 'node:fs/promises'
import { loadavg } from 'node:os'
import { inTurns } from '../dataplane/in-turns.ts'
import { median, type Subject } from '../dataplane/workloads.ts'
import { dialed, echoBeside, type StreamFigures, streams } from './loads.ts'
import { plotOf } from './plot.ts'

const STREAMS = [1, 4, 8, 64, 256]
/** Streams whose fairness is shown. */
const FAIR_AT = 64
/** Measured rounds: with thirteen ways a round takes three minutes. */
const ROUNDS = 3

type Figures = ReadonlyMap<string, readonly number[]>

/**
 * Measures every way in turns, and answers a table in Markdown: MB a second and processor time of a MB by the number of streams, the
 * fairness of streams, an echo beside streams, dials and the first byte. Each figure is the median of three rounds.
 */
export async function throughputTable(ways: readonly Subject[]): Promise<string> {
  const begunAt = loadavg()[0] ?? 0
  const byStreams: ReadonlyMap<string, readonly StreamFigures[]>[] = []
  for (const count of STREAMS) byStreams.push(await inTurns(ways, (way) => streams(way, count), ROUNDS))
  const fair = byStreams[STREAMS.indexOf(FAIR_AT)] ?? new Map()
  const echoes = await inTurns(ways, echoBeside, ROUNDS)
  const opened = await inTurns(ways, dialed, ROUNDS)
  const middle = <T>(outcomes: ReadonlyMap<string, readonly T[]>, name: string, figure: (one: T) => number) =>
    median((outcomes.get(name) ?? []).map(figure))
  const rates: Figures = new Map(
    ways.map(({ name }) => [name, byStreams.map((one) => middle(one, name, ({ mbPerSecond }) => mbPerSecond))]),
  )
  const costs: Figures = new Map(
    ways.map(({ name }) => [name, byStreams.map((one) => middle(one, name, ({ cpuMs }) => cpuMs))]),
  )
  await draw(rates)
  const loads = `Load ${begunAt.toFixed(1)} before and ${(loadavg()[0] ?? 0).toFixed(1)} after.`
  const others: readonly [string, (name: string) => number][] = [
    [`least of ${FAIR_AT} streams / mean`, (name) => middle(fair, name, ({ fairness }) => fairness)],
    ['echo beside 8 streams, p50 ms', (name) => middle(echoes, name, ({ p50 }) => p50)],
    ['p99 ms', (name) => middle(echoes, name, ({ p99 }) => p99)],
    ['dials a second', (name) => middle(opened, name, ({ perSecond }) => perSecond)],
    ['first byte, ms', (name) => middle(opened, name, ({ firstByteMs }) => firstByteMs)],
  ]
  const names = ways.map(({ name }) => name)
  return [
    loads,
    tableOf(['MB a second', ...STREAMS.map(String)], names, (name) => rates.get(name) ?? []),
    tableOf(['processor ms of a MB', ...STREAMS.map(String)], names, (name) => costs.get(name) ?? []),
    tableOf(['', ...others.map(([head]) => head)], names, (name) => others.map(([, figure]) => figure(name))),
  ].join('\n\n')
}

function tableOf(
  head: readonly string[],
  names: readonly string[],
  values: (name: string) => readonly number[],
): string {
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const text = (value: number) => (value === 0 ? '–' : value.toPrecision(value >= 100 ? 3 : 2))
  return [row(head), row(head.map(() => '---')), ...names.map((name) => row([name, ...values(name).map(text)]))].join(
    '\n',
  )
}

/** Writes the plot to the file that `PORTCULLIS_PLOT` names. */
async function draw(rates: Figures): Promise<void> {
  const { PORTCULLIS_PLOT: file } = process.env
  if (file === undefined) return
  const lines = [...rates].map(([name, values]) => ({ name, values }))
  await writeFile(file, plotOf('Throughput', STREAMS, 'MB a second', lines))
}
