import { hrefOf } from '../navigation/place.ts'
import { EntityLink } from '../parts/entity-link.tsx'

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
}

/** The pairs of identity and service that would gain or lose access, one by one. */
export function Pairs({ pairs }: { pairs: readonly Pair[] }) {
  if (pairs.length === 0) return <p class="empty">Nobody would gain or lose anything.</p>
  return (
    <table class="list" data-results>
      <thead>
        <tr>
          <th scope="col">Change</th>
          <th scope="col">Identity</th>
          <th scope="col">Service</th>
          <th scope="col">
            <span class="unseen">Why</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {pairs.map(({ identity, service, type, change }) => (
          <tr key={`${identity.id} ${service.id} ${type} ${change}`}>
            <td>
              <span class={change === 'gained' ? 'gain' : 'loss'}>
                {change === 'gained' ? '+' : '−'} {type}
              </span>
            </td>
            <td>
              <EntityLink kind="identities" {...identity} />
            </td>
            <td>
              <EntityLink kind="services" {...service} />
            </td>
            <td>
              <a href={hrefOf('why', { identity: identity.id, service: service.id, type })}>why now</a>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
