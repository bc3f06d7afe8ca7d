import type { Apis } from '../api/apis.ts'
import { deleteOf } from '../api/read-json.ts'
import { go, hrefOf } from '../navigation/place.ts'
import { ActionProblem } from '../parts/action-problem.tsx'
import { ConfirmedButton } from '../parts/confirmed-button.tsx'
import { hrefOfEntity } from '../parts/entity-link.tsx'
import { useAction } from '../parts/use-action.ts'
import { may } from '../session/session.ts'
import { tableMembers } from '../table/table-place.ts'
import { IdentityPanel } from './identity-panel.tsx'
import { MANAGED_KINDS, type ManagedKind } from './kinds.ts'
import { PanelHead } from './panel-head.tsx'

interface Props {
  readonly apis: Apis
  readonly kind: ManagedKind
  readonly id: string
  /** The lists are to be read again. */
  readonly onChange: () => void
}

/** Shows one entity with its actions. */
export function EntityPanel({ apis, kind, id, onChange }: Props) {
  const action = useAction()
  const { permission = '' } = MANAGED_KINDS.find((managed) => managed.kind === kind) ?? {}
  const remove = async () => {
    if (!(await action.run('Deleted.', () => deleteOf(apis, kind, id)))) return
    onChange()
    go('manage', { kind, ...tableMembers() })
  }
  return (
    <aside class="panel" aria-label="Selected">
      {kind === 'identities' ? (
        <IdentityPanel apis={apis} id={id} onChange={onChange} />
      ) : (
        <PanelHead apis={apis} kind={kind} id={id} />
      )}
      <section class="panel-links">
        <a href={hrefOfEntity(kind, id)}>Its page</a>
        {kind === 'services' && <a href={hrefOf('why', { service: id })}>Why somebody reaches it</a>}
        {kind === 'identities' && <a href={hrefOf('why', { identity: id })}>Why it reaches a service</a>}
        {kind !== 'posture-checks' && (
          <a href={hrefOf('what-if', { change: 'edit', of: kind, id })}>What if it were different</a>
        )}
        <a href={hrefOf('json', { kind, id })}>Change its fields</a>
        <a href={hrefOf('json', { kind, id, as: 'json' })}>All of it as JSON</a>
      </section>
      <section>
        {may(permission, 'delete') && (
          <ConfirmedButton
            label="Delete"
            question="Delete it for good?"
            disabled={action.isBusy}
            onConfirm={() => void remove()}
          />
        )}
        <ActionProblem of={action.problem} />
      </section>
    </aside>
  )
}
