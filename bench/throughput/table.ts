import { writeFile } from 'node:fs/promises'
import { loadavg } from 'node:os'
import { inTurns } from '../dataplane/in-turns.ts'
import { median, type Subject } from '../dataplane/workloads.ts'
import { dialed, echoBeside, type StreamFigures, streams } from './loads.ts'
import { plotOf } from './plot.ts'

const STREAMS = [1, 4, 8, 64, 256]
/** Measured rounds: with thirteen ways a round takes three minutes. */
const ROUNDS = 3

type Figures = ReadonlyMap<string, readonly number[]>

/**
 * Measures every way in turns, and answers tables in Markdown as they come: MB a second and processor time of a MB by the number of streams,
 * the fairness of streams, an echo beside streams, dials and the first byte. Each figure is the median of three rounds.
 */
export async function* throughputTables(ways: readonly Subject[]): AsyncGenerator<string> {
  yield `Load ${loadavg()[0]?.toFixed(1)} before.`
  const names = ways.map(({ name }) => name)
  const byStreams: ReadonlyMap<string, readonly StreamFigures[]>[] = []
  for (const count of STREAMS) {
    const figures = await inTurns(ways, (way) => streams(way, count), ROUNDS)
    byStreams.push(figures)
    const of = (name: string, figure: (one: StreamFigures) => number) => middle(figures, name, figure)
    yield tableOf([`${count} streams`, 'MB a second', 'processor ms of a MB', 'least stream / mean'], names, (name) => [
      of(name, ({ mbPerSecond }) => mbPerSecond),
      of(name, ({ cpuMs }) => cpuMs),
      of(name, ({ fairness }) => fairness),
    ])
  }
  await draw(new Map(names.map((name) => [name, byStreams.map((one) => middle(one, name, (its) => its.mbPerSecond))])))
  const echoes = await inTurns(ways, echoBeside, ROUNDS)
  yield tableOf(['echo of 1 kB beside 8 streams', 'p50, ms', 'p99, ms'], names, (name) => [
    middle(echoes, name, ({ p50 }) => p50),
    middle(echoes, name, ({ p99 }) => p99),
  ])
  const opened = await inTurns(ways, dialed, ROUNDS)
  yield tableOf(['connections', 'a second', 'first byte, ms'], names, (name) => [
    middle(opened, name, ({ perSecond }) => perSecond),
    middle(opened, name, ({ firstByteMs }) => firstByteMs),
  ])
  yield `Load ${loadavg()[0]?.toFixed(1)} after.`
}

function middle<T>(outcomes: ReadonlyMap<string, readonly T[]>, name: string, figure: (one: T) => number): number {
  return median((outcomes.get(name) ?? []).map(figure))
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
