import { grouped } from '../../../../../src/base/collections.ts'

interface Named {
  readonly id: string
  readonly name: string
}

/** An identity that would gain or lose a service. */
export interface Pair {
  readonly identity: Named
  readonly service: Named
  readonly type: 'Dial' | 'Bind'
  readonly change: 'gained' | 'lost'
  /** Why a gained pair would not connect; null without an obstacle, undefined where it is not known. */
  readonly obstacle?: string | null | undefined
}

/** Pairs of one kind that share their identities or their services. */
export interface PairGroup {
  readonly key: string
  readonly type: Pair['type']
  readonly change: Pair['change']
  readonly obstacle: Pair['obstacle']
  readonly identities: readonly Named[]
  readonly services: readonly Named[]
}

/**
 * Joins pairs: by service or by identity, whichever are fewer, and then those with the same others. Every identity of a group has the change
 * at every service of it.
 */
export function foldPairs(pairs: readonly Pair[]): readonly PairGroup[] {
  const kinds = grouped(pairs, ({ type, change, obstacle }) => JSON.stringify([change, type, obstacle]))
  return [...kinds].flatMap(([kind, of]) => {
    const [identities, services] = [distinct(of, 'identity'), distinct(of, 'service')]
    const [one, other] =
      services.length <= identities.length ? ([SERVICE, IDENTITY] as const) : ([IDENTITY, SERVICE] as const)
    const rows = [...grouped(of, (pair) => pair[one].id).values()]
    const alike = grouped(rows, (row) =>
      JSON.stringify(
        distinct(row, other)
          .map(({ id }) => id)
          .sort(),
      ),
    )
    return [...alike].map(([members, same]) => {
      const all = same.flat()
      const { type, change, obstacle } = all[0] ?? { type: 'Dial', change: 'gained', obstacle: undefined }
      const sides = { identities: distinct(all, 'identity'), services: distinct(all, 'service') }
      return { key: `${kind} ${one} ${members}`, type, change, obstacle, ...sides }
    })
  })
}

const [IDENTITY, SERVICE] = ['identity', 'service'] as const

/** The identities or the services of pairs, each once. */
export function distinct(pairs: readonly Pair[], side: 'identity' | 'service'): readonly Named[] {
  return [...new Map(pairs.map((pair) => [pair[side].id, pair[side]])).values()]
}

/** Events that are alike and follow each other. */
export interface Run<T> {
  readonly first: T
  readonly last: T
  /** In the order in which they were given. */
  readonly events: readonly T[]
}

/**
 * Joins entries with the same text that follow each other, with at most `between` other runs between them: a session that ends and a refusal
 * alternate for hours. A run stands where its last entry was.
 */
export function foldRuns<T>(events: readonly T[], sayingOf: (event: T) => string, between = 0): readonly Run<T>[] {
  const runs: { first: T; last: T; events: T[]; saying: string }[] = []
  for (const event of events) {
    const saying = sayingOf(event)
    const at = runs.findLastIndex((run, place) => place >= runs.length - 1 - between && run.saying === saying)
    const [run] = at < 0 ? [] : runs.splice(at, 1)
    if (run === undefined) {
      runs.push({ first: event, last: event, events: [event], saying })
      continue
    }
    run.last = event
    run.events.push(event)
    runs.push(run)
  }
  return runs
}
