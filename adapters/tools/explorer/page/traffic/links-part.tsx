import { AndMore } from '../parts/and-more.tsx'
import { EntityLink } from '../parts/entity-link.tsx'
import { latencyText, numberText, rateText } from '../parts/number-text.ts'
import type { Traffic } from './circuits-part.tsx'

const MOST_LISTED = 20

/** The links between routers, the most used first, with their numbers. */
export function LinksPart({ traffic: { links, counts } }: { traffic: Traffic }) {
  return (
    <section class="card" aria-label="Links">
      <h2>Links</h2>
      {links.length === 0 && <p class="muted">None between routers of this controller.</p>}
      {links.length > 0 && (
        <div class="wide-table">
          <table class="list">
            <thead>
              <tr>
                <th scope="col">Between</th>
                <th scope="col" class="number">
                  Latency
                </th>
                <th scope="col" class="number">
                  Circuits
                </th>
                <th scope="col" class="number">
                  Rate
                </th>
              </tr>
            </thead>
            <tbody>
              {links
                .slice(0, MOST_LISTED)
                .map(({ id, source, target, latencyMs, isDown, circuits, bytesPerSecond }) => (
                  <tr key={id}>
                    <td>
                      <EntityLink kind="edge-routers" {...source} /> – <EntityLink kind="edge-routers" {...target} />
                      {isDown && <span class="loss"> out of use</span>}
                    </td>
                    <td class="number">{latencyText(latencyMs)}</td>
                    <td class="number">{numberText(circuits)}</td>
                    <td class="number">{rateText(bytesPerSecond)}</td>
                  </tr>
                ))}
            </tbody>
          </table>
        </div>
      )}
      <AndMore all={counts.links} shown={MOST_LISTED} />
    </section>
  )
}
