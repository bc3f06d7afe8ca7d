import { deleteOf } from '../api/read-json.ts'
import { go, hrefOf } from '../navigation/place.ts'
import { ActionButton } from '../parts/action-button.tsx'
import { hrefOfEntity } from '../parts/entity-link.tsx'
import { may } from '../session/session.ts'
import { useApis } from '../session/use-apis.ts'
import { tableMembers } from '../table/table-place.ts'
import { IdentityPanel } from './identity-panel.tsx'
import { MANAGED_KINDS, type ManagedKind } from './kinds.ts'
import { PanelHead } from './panel-head.tsx'

interface Props {
  readonly kind: ManagedKind
  readonly id: string
  /** The lists are to be read again. */
  readonly onChange: () => void
}

/** Shows one entity with its actions. */
export function EntityPanel({ kind, id, onChange }: Props) {
  const apis = useApis()
  const { permission = '' } = MANAGED_KINDS.find((managed) => managed.kind === kind) ?? {}
  const onDeleted = () => {
    onChange()
    go('manage', { kind, ...tableMembers() })
  }
  return (
    <aside class="panel" aria-label="Selected">
      {kind === 'identities' ? <IdentityPanel id={id} onChange={onChange} /> : <PanelHead kind={kind} id={id} />}
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
          <ActionButton
            label="Delete"
            question="Delete it for good?"
            done="Deleted."
            act={() => deleteOf(apis, kind, id)}
            onDone={onDeleted}
          />
        )}
      </section>
    </aside>
  )
}
