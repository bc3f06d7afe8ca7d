import { hrefOf } from '../navigation/place.ts'
import { Card } from '../parts/card.tsx'
import { NameList, ScopeMembers } from '../parts/found-list.tsx'
import { pluralName, ROLE_LISTS, SELECTED_BY, wordsOf } from '../parts/words.ts'
import { Frame, NamesPart } from './entity-page.tsx'

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
        {Object.entries(ROLE_LISTS).map(([policies, lists]) =>
          lists
            .filter((list) => SELECTED_BY[list] === kind)
            .map((list) => (
              <NamesPart
                key={policies}
                title={`${wordsOf(pluralName(policies, 2))} that select by it`}
                kind={policies}
                filter={`anyOf(${list}) = ${JSON.stringify(`#${attribute}`)}`}
              />
            )),
        )}
      </div>
    </Frame>
  )
}
