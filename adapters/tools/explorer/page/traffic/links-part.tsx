import { AndMore } from '../parts/and-more.tsx'
import { Card } from '../parts/card.tsx'
import { EntityLink } from '../parts/entity-link.tsx'
import { latencyText, numberText, rateText } from '../parts/number-text.ts'
import { PlainTable } from '../parts/plain-table.tsx'
import type { Traffic } from './use-traffic.ts'

const MOST_LISTED = 20

/** The links between routers, the most used first, with their numbers. */
export function LinksPart({ traffic: { links, counts } }: { traffic: Traffic }) {
  return (
    <Card title="Links">
      {links.length === 0 && <p class="muted">None between routers of this controller.</p>}
      {links.length > 0 && (
        <PlainTable
          rows={links.slice(0, MOST_LISTED)}
          keyOf={({ id }) => id}
          columns={[
            {
              title: 'Between',
              cell: ({ source, target, isDown }) => (
                <>
                  <EntityLink kind="edge-routers" {...source} /> – <EntityLink kind="edge-routers" {...target} />
                  {isDown && <span class="loss"> out of use</span>}
                </>
              ),
            },
            { title: 'Latency', as: 'number', cell: ({ latencyMs }) => latencyText(latencyMs) },
            { title: 'Circuits', as: 'number', cell: ({ circuits }) => numberText(circuits) },
            { title: 'Rate', as: 'number', cell: ({ bytesPerSecond }) => rateText(bytesPerSecond) },
          ]}
        />
      )}
      <AndMore all={counts.links} shown={MOST_LISTED} />
    </Card>
  )
}
