import type { Apis } from '../api/apis.ts'
import { ChipsField } from '../parts/chips-field.tsx'
import type { PolicyDraft } from './change.ts'

interface Props {
  readonly apis: Apis
  readonly policy: PolicyDraft
  /** Changes members of the policy in its latest state: fields may be answered one after another before they are drawn again. */
  readonly onChange: (changed: Partial<PolicyDraft>) => void
}

/** The fields of a service policy: name, type, semantic, roles and posture checks. */
export function PolicyFields({ apis, policy, onChange }: Props) {
  return (
    <div class="fields">
      <label>
        Name
        <input value={policy.name} required onInput={({ currentTarget }) => onChange({ name: currentTarget.value })} />
      </label>
      <div class="row">
        <label>
          Type
          <select
            value={policy.type}
            onChange={({ currentTarget }) => onChange({ type: currentTarget.value === 'Bind' ? 'Bind' : 'Dial' })}
          >
            <option>Dial</option>
            <option>Bind</option>
          </select>
        </label>
        <label>
          Selects who has
          <select
            value={policy.semantic}
            onChange={({ currentTarget }) =>
              onChange({ semantic: currentTarget.value === 'AllOf' ? 'AllOf' : 'AnyOf' })
            }
          >
            <option value="AnyOf">any of the attributes</option>
            <option value="AllOf">all of the attributes</option>
          </select>
        </label>
      </div>
      <ChipsField
        apis={apis}
        label="Identity roles"
        chips={policy.identityRoles}
        kind="identities"
        of="roles"
        onChange={(identityRoles) => onChange({ identityRoles })}
      />
      <ChipsField
        apis={apis}
        label="Service roles"
        chips={policy.serviceRoles}
        kind="services"
        of="roles"
        onChange={(serviceRoles) => onChange({ serviceRoles })}
      />
      <ChipsField
        apis={apis}
        label="Posture check roles"
        chips={policy.postureCheckRoles}
        kind="posture-checks"
        of="roles"
        onChange={(postureCheckRoles) => onChange({ postureCheckRoles })}
      />
    </div>
  )
}
