import { hrefOf } from '../navigation/place.ts'
import { Names } from '../parts/entity-link.tsx'
import { foldPairs, type Pair } from '../parts/fold.ts'
import { PlainTable } from '../parts/plain-table.tsx'
import { numberText } from '../parts/words.ts'

/** The identities and services that would gain or lose access; those with the same change are one row. */
export function Pairs({ pairs }: { pairs: readonly Pair[] }) {
  if (pairs.length === 0) return <p class="empty">Nobody would gain or lose anything.</p>
  return (
    <PlainTable
      class="pairs stacks"
      rows={foldPairs(pairs)}
      keyOf={({ key }) => key}
      columns={[
        {
          title: 'Change',
          as: 'narrow',
          cell: ({ type, change, obstacle }) => (
            <>
              <span class={change === 'lost' ? 'loss' : obstacle ? 'doubt' : 'gain'}>
                {change === 'gained' ? '+' : '−'} {type}
              </span>
              {obstacle && <span class="muted obstacle">{obstacleText(obstacle)}</span>}
            </>
          ),
        },
        { title: 'Identity', cell: ({ identities }) => <Names kind="identities" of={identities} /> },
        { title: 'Service', cell: ({ services }) => <Names kind="services" of={services} /> },
        {
          title: 'Why',
          as: 'narrow',
          isUnseen: true,
          cell: ({ identities, services, type }) => (
            <a href={hrefOf('why', { identity: identities[0]?.id, service: services[0]?.id, type })}>why now</a>
          ),
        },
      ]}
    />
  )
}

const OBSTACLES: Readonly<Record<string, string>> = {
  'identity-disabled': 'for a disabled identity',
  'posture-failing': 'if posture passes',
  'no-terminators': 'without a host',
  'all-common-edge-routers-offline': 'with all edge routers offline',
}

/** The obstacle of a gained pair in a few words. */
function obstacleText(obstacle: string): string {
  return OBSTACLES[obstacle] ?? 'without an edge router'
}

/** How many of the gained pairs would connect, in words: `1 would connect now, 2 if posture passes`. Empty where that is not known. */
export function worksText(pairs: readonly Pair[]): string {
  const gained = pairs.filter(({ change, obstacle }) => change === 'gained' && obstacle !== undefined)
  const counts = Map.groupBy(gained, ({ obstacle }) => (obstacle ? obstacleText(obstacle) : 'would connect now'))
  return [...counts].map(([words, of]) => `${numberText(of.length)} ${words}`).join(', ')
}
