import { hrefOf } from '../navigation/place.ts'
import { AttributeLink, EntityLink, hrefOfEntity, Joined, Name } from '../parts/entity-link.tsx'
import { ScopeMembers } from '../parts/found-list.tsx'
import { numberText } from '../parts/words.ts'
import type { Choice } from './map-drawing.tsx'
import { linksOf, type ShownMap, shareText } from './read-map.ts'

interface Props {
  readonly map: ShownMap
  readonly chosen: Choice
  /** Which part of the network is shown. */
  readonly where: Readonly<Record<string, string | undefined>>
  readonly onChoose: (choice: Choice | undefined) => void
}

/** One group: its role attributes, the groups that it reaches with their policies, and its members. */
export function GroupPanel({ map, chosen: { side, place }, where, onChoose }: Props) {
  const group = map.sides[side].groups[place]
  if (group === undefined) return null
  const other = side === 'identities' ? 'services' : 'identities'
  const links = linksOf(map, side, place)
  return (
    <aside class="panel" aria-label={group.title}>
      <div class="panel-head">
        <div>
          <h2>
            <Name of={group.title} />
          </h2>
          <p class="muted">
            {group.entity ? (side === 'identities' ? 'identity' : 'service') : `${numberText(group.count)} ${side}`}
            {group.within && `, ${group.within}`}
          </p>
        </div>
        <button type="button" class="quiet" aria-label="Close" onClick={() => onChoose(undefined)}>
          ✕
        </button>
      </div>
      <p>
        {group.entity ? (
          <a class="button" href={hrefOfEntity(side, group.entity.id)}>
            Open its page
          </a>
        ) : (
          <a class="button" href={hrefOf('graph', { ...where, [side]: group.scope, [`${side}By`]: undefined })}>
            Open this group
          </a>
        )}
      </p>
      <p class="chips">
        {group.roleAttributes.map((attribute) => (
          <AttributeLink key={attribute} kind={side} attribute={attribute} />
        ))}
      </p>
      <section>
        <h3>{side === 'identities' ? `May ${map.type.toLowerCase()}` : 'Reached by'}</h3>
        {links.length === 0 && <p class="muted">Nothing.</p>}
        <ul class="links">
          {links.map((link) => {
            const { from, to, policies, policyCount, isGuarded } = link
            const at = side === 'identities' ? to : from
            const linked = map.sides[other].groups[at]
            return (
              <li key={at}>
                <button type="button" class="link" onClick={() => onChoose({ side: other, place: at })}>
                  <Name of={linked?.title ?? ''} />
                </button>
                <span class="muted">
                  {` ${shareText(map, link)}`}
                  {isGuarded && ', if posture passes'}
                </span>
                <p class="by">
                  by <Joined of={policies}>{(policy) => <EntityLink kind="service-policies" {...policy} />}</Joined>
                  {policyCount > policies.length && ` and ${numberText(policyCount - policies.length)} more`}
                </p>
              </li>
            )
          })}
        </ul>
      </section>
      {group.entity === null && (
        <section>
          <h3>Members</h3>
          <ScopeMembers kind={side} scope={group.scope} />
        </section>
      )}
    </aside>
  )
}
