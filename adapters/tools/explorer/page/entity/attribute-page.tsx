import { hrefOf } from '../navigation/place.ts'
import { Card } from '../parts/card.tsx'
import { NameList, ScopeMembers } from '../parts/found-list.tsx'
import { pluralName, wordsOf } from '../parts/words.ts'
import { Frame, NamesPart } from './entity-page.tsx'

/** The kinds of policies in whose role lists attributes of a kind stand, each with the list. */
const LISTS: Readonly<Record<string, readonly (readonly [policies: string, list: string])[]>> = {
  identities: [
    ['service-policies', 'identityRoles'],
    ['edge-router-policies', 'identityRoles'],
  ],
  services: [
    ['service-policies', 'serviceRoles'],
    ['service-edge-router-policies', 'serviceRoles'],
  ],
  'edge-routers': [
    ['edge-router-policies', 'edgeRouterRoles'],
    ['service-edge-router-policies', 'edgeRouterRoles'],
  ],
  'posture-checks': [['service-policies', 'postureCheckRoles']],
}
const SCOPED = ['identities', 'services', 'edge-routers'] as const

/** One role attribute: its holders, and the policies that select by it. */
export function AttributePage({ kind, attribute }: { kind: string; attribute: string }) {
  const scoped = SCOPED.find((one) => one === kind)
  const quoted = JSON.stringify(attribute)
  return (
    <Frame
      one={`role attribute of ${kind.replaceAll('-', ' ')}`}
      kind={kind}
      name={`#${attribute}`}
      links={
        kind === 'identities'
          ? [
              { label: 'What if…', href: hrefOf('what-if', { group: attribute }) },
              { label: 'Who reaches what', href: hrefOf('graph', { identities: `[{"any":[${quoted}]}]` }) },
            ]
          : []
      }
    >
      <div class="columns">
        <Card title="Who has it">
          {scoped ? (
            <ScopeMembers kind={scoped} scope={JSON.stringify([{ any: [attribute] }])} />
          ) : (
            <NameList kind="posture-checks" filter={`anyOf(roleAttributes) = ${quoted}`} empty="Nobody." />
          )}
        </Card>
        {(Object.hasOwn(LISTS, kind) ? LISTS[kind] : undefined)?.map(([policies, list]) => (
          <NamesPart
            key={policies}
            title={`${wordsOf(pluralName(policies, 2))} that select by it`}
            kind={policies}
            filter={`anyOf(${list}) = ${JSON.stringify(`#${attribute}`)}`}
          />
        ))}
      </div>
    </Frame>
  )
}
