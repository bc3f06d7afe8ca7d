import { visibleLine } from '../base/text.ts'
import { accessDifference, Network, NetworkView } from '../model/index.ts'
import type { Coverage, CoveredKind, TestCase } from './check-invariant.ts'

/** How many pairs are named. */
const MOST_NAMED = 10_000

/** The coverage of a network by assertions that were tried on it. */
export function coverageOf(network: Network, cases: readonly TestCase[]): Coverage {
  const touched = cases.flatMap((one) => one.touched ?? [])
  const granted = touched.filter(({ policies }) => policies.length > 0).map(pairText)
  const asked = new Set(granted)
  const all = accessDifference(new NetworkView(new Network([])), new NetworkView(network), MOST_NAMED)
  return {
    policies: covered(namesOf(network, 'servicePolicies'), new Set(touched.flatMap(({ policies }) => policies))),
    checks: covered(namesOf(network, 'postureChecks'), new Set(touched.flatMap(({ checks }) => checks))),
    pairs: {
      total: all.gained,
      covered: asked.size,
      missing: all.changes.map(pairText).filter((pair) => !asked.has(pair)),
    },
  }
}

function namesOf(network: Network, key: 'servicePolicies' | 'postureChecks'): readonly string[] {
  return network.all(key).map(({ name }) => name)
}

function covered(names: readonly string[], asked: ReadonlySet<string>): CoveredKind {
  const missing = names.filter((name) => !asked.has(name)).toSorted()
  return { total: names.length, covered: names.length - missing.length, missing }
}

function pairText({
  identity,
  service,
  type,
}: Pick<NonNullable<TestCase['touched']>, 'identity' | 'service' | 'type'>) {
  return `${identity} ${type.toLowerCase()}s ${service}`
}

/**
 * The lowest share of a coverage, in percent, rounded down: 100 only where nothing is missing.
 *
 * @example
 * const { coverage } = await testModel(model)
 * if (coverage !== undefined && lowestShare(coverage) < 80) process.exitCode = 1
 */
export function lowestShare({ policies, checks, pairs }: Coverage): number {
  const shares = [policies, checks, pairs].map(({ total, covered }) => (total === 0 ? 100 : (100 * covered) / total))
  return Math.floor(Math.min(...shares))
}

/** How many missing entities of each kind are shown. */
const MOST_SHOWN = 20

/**
 * A coverage for people: the share of each kind, and the missing entities.
 *
 * @example
 * const { coverage } = await testModel(model)
 * if (coverage !== undefined) console.log(coverageText(coverage))
 */
export function coverageText(coverage: Coverage): string {
  const kinds = [
    ['service policies', coverage.policies],
    ['posture checks', coverage.checks],
    ['pairs that are granted', coverage.pairs],
  ] as const
  return kinds
    .flatMap(([kind, { total, covered, missing }]) => [
      `${covered} of ${total} ${kind} are asked about`,
      ...missing.slice(0, MOST_SHOWN).map((name) => `  - ${visibleLine(name)}`),
      ...(total - covered > MOST_SHOWN ? [`  and ${total - covered - MOST_SHOWN} more`] : []),
    ])
    .join('\n')
}
