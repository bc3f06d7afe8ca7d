import type { BenchRow } from '../row.ts'
import { median } from './workloads.ts'

/** Measured rounds of a workload, unless it is said otherwise. */
const ROUNDS = 4

/** The outcomes of a workload, by the name of the subject. */
export type Outcomes<T> = ReadonlyMap<string, readonly T[]>

/** Runs a workload with each in turn; the first round warms up. */
export async function inTurns<S extends { readonly name: string }, T>(
  subjects: readonly S[],
  run: (subject: S) => Promise<T>,
  rounds = ROUNDS,
): Promise<Outcomes<T>> {
  const outcomes = new Map(subjects.map(({ name }) => [name, [] as T[]]))
  for (let round = 0; round <= rounds; round += 1) {
    for (const subject of round % 2 === 0 ? subjects : subjects.toReversed()) {
      const outcome = await run(subject)
      if (round > 0) outcomes.get(subject.name)?.push(outcome)
    }
  }
  return outcomes
}

/** The row of a figure of ours (ms), beside the figure of another subject. */
export function besides<T>(
  { name, ceiling, target }: { readonly name: string; readonly ceiling: string; readonly target?: string },
  outcomes: Outcomes<T>,
  figure: (outcome: T) => number,
): BenchRow {
  const of = (subject: string) => (outcomes.get(subject) ?? []).map(figure)
  const texts = (subject: string) => of(subject).map((one) => one.toFixed(2))
  return {
    name,
    value: median(of('ours')),
    unit: 'ms',
    ceiling: { name: ceiling, value: median(of(ceiling)) },
    ...(target !== undefined && { target }),
    details: [...outcomes.keys()].map((subject) => `${subject} ${texts(subject).join(' ')}`).join('; '),
  }
}
