import { visibleLine } from '../../../../../src/base/text.ts'
import { attributeChip } from '../parts/chip.ts'
import { ChipsField } from '../parts/chips-field.tsx'
import { Choice, TextInput } from '../parts/fields.tsx'
import { countedName, ROLE_LISTS, SELECTED_BY, wordsOf } from '../parts/words.ts'
import type { Change, PolicyDraft } from './change.ts'
import { amendPolicy, drop, keyOf, put } from './draft.ts'

/** The tried changes, each as a form that tries during the edit. */
export function DraftList({ changes }: { changes: readonly Change[] }) {
  return (
    <>
      {changes.map((change) => (
        <article key={keyOf(change)} class="card">
          <div class="panel-head">
            <h2>{titleOf(change)}</h2>
            <button type="button" class="quiet" aria-label={`Drop: ${titleOf(change)}`} onClick={() => drop(change)}>
              ✕
            </button>
          </div>
          <Fields change={change} />
        </article>
      ))}
    </>
  )
}

function Fields({ change }: { change: Change }) {
  if (change.kind === 'group') {
    return (
      <p class="muted">
        {countedName('identities', change.count)} would be given the role attribute; who has it already stays as it is.
      </p>
    )
  }
  if (change.action === 'delete') return <p class="problem">It would be deleted.</p>
  if (change.kind !== 'service-policies') {
    const chips = change.roleAttributes.map(attributeChip)
    return (
      <ChipsField
        label="Role attributes"
        chips={chips}
        kind={change.kind}
        of="attributes"
        onChange={(after) => put({ ...change, roleAttributes: after.map(({ value }) => value) })}
      />
    )
  }
  return (
    <>
      <PolicyFields policy={change.policy} onChange={(changed) => amendPolicy(change, changed)} />
      {change.action === 'update' && (
        <button
          type="button"
          class="danger"
          onClick={() =>
            put({ kind: change.kind, action: 'delete', id: change.id, name: change.name, before: change.before })
          }
        >
          Delete it instead
        </button>
      )}
    </>
  )
}

/** Names a change, here and in announcements. */
function titleOf(change: Change): string {
  if (change.kind === 'group') return visibleLine(`#${change.roleAttribute} for everybody who has #${change.holders}`)
  if (change.action === 'create') return 'New service policy'
  const name = visibleLine(change.name)
  if (change.kind === 'service-policies') return `Service policy ${name}`
  return `${change.kind === 'identities' ? 'Identity' : 'Service'} ${name}`
}

interface Props {
  readonly policy: PolicyDraft
  /** Changes members of the policy in its latest state: fields may be answered one after another before they are drawn again. */
  readonly onChange: (changed: Partial<PolicyDraft>) => void
}

/** The fields of a service policy: name, type, semantic, roles and posture checks. */
function PolicyFields({ policy, onChange }: Props) {
  return (
    <div class="fields">
      <TextInput label="Name" value={policy.name} required onChange={(name) => onChange({ name })} />
      <div class="row">
        <Choice
          label="Type"
          value={policy.type}
          of={{ Dial: 'Dial', Bind: 'Bind' }}
          onChange={(type) => onChange({ type: type === 'Bind' ? 'Bind' : 'Dial' })}
        />
        <Choice
          label="Selects who has"
          value={policy.semantic}
          of={{ AnyOf: 'any of the attributes', AllOf: 'all of the attributes' }}
          onChange={(semantic) => onChange({ semantic: semantic === 'AllOf' ? 'AllOf' : 'AnyOf' })}
        />
      </div>
      {ROLE_LISTS['service-policies'].map((list) => (
        <ChipsField
          key={list}
          label={wordsOf(list)}
          chips={policy[list]}
          kind={SELECTED_BY[list]}
          of="roles"
          onChange={(roles) => onChange({ [list]: roles })}
        />
      ))}
    </div>
  )
}
