import type { Apis } from '../api/apis.ts'
import { hrefOf } from '../navigation/place.ts'
import { NameList } from '../parts/name-list.tsx'
import { ScopeMembers } from '../parts/scope-members.tsx'
import { Frame, NamesPart, Part } from './entity-page.tsx'

/** The role lists in which role attributes of a kind stand, by the kind of policy. */
const FIELDS: Readonly<Record<string, Readonly<Partial<Record<PolicyKind, string>>>>> = {
  identities: { 'service-policies': 'identityRoles', 'edge-router-policies': 'identityRoles' },
  services: { 'service-policies': 'serviceRoles', 'service-edge-router-policies': 'serviceRoles' },
  'edge-routers': { 'edge-router-policies': 'edgeRouterRoles', 'service-edge-router-policies': 'edgeRouterRoles' },
  'posture-checks': { 'service-policies': 'postureCheckRoles' },
}
const SCOPED = ['identities', 'services', 'edge-routers'] as const

type PolicyKind = (typeof POLICY_KINDS)[number]['kind']
const POLICY_KINDS = [
  { kind: 'service-policies', title: 'Service policies that select by it' },
  { kind: 'edge-router-policies', title: 'Edge router policies that select by it' },
  { kind: 'service-edge-router-policies', title: 'Service edge router policies that select by it' },
] as const

/** One role attribute: its holders, and the policies that select by it. */
export function AttributePage({ apis, kind, attribute }: { apis: Apis; kind: string; attribute: string }) {
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
        <Part title="Who has it">
          {scoped ? (
            <ScopeMembers apis={apis} kind={scoped} scope={JSON.stringify([{ any: [attribute] }])} />
          ) : (
            <NameList apis={apis} kind="posture-checks" filter={`anyOf(roleAttributes) = ${quoted}`} empty="Nobody." />
          )}
        </Part>
        {POLICY_KINDS.map(({ kind: policies, title }) => {
          const field = FIELDS[kind]?.[policies]
          return (
            field && (
              <NamesPart
                key={policies}
                apis={apis}
                title={title}
                kind={policies}
                filter={`anyOf(${field}) = ${JSON.stringify(`#${attribute}`)}`}
                empty="None."
              />
            )
          )
        })}
      </div>
    </Frame>
  )
}
