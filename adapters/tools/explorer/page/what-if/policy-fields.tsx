import { ChipsField } from '../parts/chips-field.tsx'
import { Choice } from '../parts/choice.tsx'
import { TextInput } from '../parts/text-input.tsx'
import type { PolicyDraft } from './change.ts'

const LISTS = [
  { member: 'identityRoles', label: 'Identity roles', kind: 'identities' },
  { member: 'serviceRoles', label: 'Service roles', kind: 'services' },
  { member: 'postureCheckRoles', label: 'Posture check roles', kind: 'posture-checks' },
] as const

interface Props {
  readonly policy: PolicyDraft
  /** Changes members of the policy in its latest state: fields may be answered one after another before they are drawn again. */
  readonly onChange: (changed: Partial<PolicyDraft>) => void
}

/** The fields of a service policy: name, type, semantic, roles and posture checks. */
export function PolicyFields({ policy, onChange }: Props) {
  return (
    <div class="fields">
      <TextInput label="Name" value={policy.name} required onChange={(name) => onChange({ name })} />
      <div class="row">
        <Choice
          label="Type"
          value={policy.type}
          of={['Dial', 'Bind']}
          onChange={(type) => onChange({ type: type === 'Bind' ? 'Bind' : 'Dial' })}
        />
        <Choice
          label="Selects who has"
          value={policy.semantic}
          of={[
            ['AnyOf', 'any of the attributes'],
            ['AllOf', 'all of the attributes'],
          ]}
          onChange={(semantic) => onChange({ semantic: semantic === 'AllOf' ? 'AllOf' : 'AnyOf' })}
        />
      </div>
      {LISTS.map(({ member, label, kind }) => (
        <ChipsField
          key={member}
          label={label}
          chips={policy[member]}
          kind={kind}
          of="roles"
          onChange={(roles) => onChange({ [member]: roles })}
        />
      ))}
    </div>
  )
}
