import { useState } from 'preact/hooks'
import { go, hrefOf, place } from '../navigation/place.ts'
import { kindName } from '../parts/kind-names.ts'
import { may, mayRead } from '../session/session.ts'
import { EntityTable } from '../table/entity-table.tsx'
import { CreateIdentity } from './create-identity.tsx'
import { EntityPanel } from './entity-panel.tsx'
import { MANAGED_KINDS, type ManagedKind, managedKind } from './kinds.ts'
import { PanelTitle } from './panel-head.tsx'

/** Identities, services, policies and checks: found, created, and the common things done to them. */
export function ManageView() {
  const { about } = place.value
  const kind = managedKind(about.get('kind'))
  const id = about.get('id') ?? undefined
  const isNew = about.has('new')
  const [version, setVersion] = useState(0)
  const { permission = '' } = MANAGED_KINDS.find((managed) => managed.kind === kind) ?? {}
  const onChange = () => setVersion(version + 1)
  const onCreated = (made: string) => {
    onChange()
    go('manage', { kind, id: made })
  }
  return (
    <section class="manage">
      <div class="bar">
        <h1>Manage</h1>
        <div class="tabs">
          {MANAGED_KINDS.filter((managed) => mayRead(managed.permission)).map((managed) => (
            <a
              key={managed.kind}
              href={hrefOf('manage', { kind: managed.kind })}
              aria-current={managed.kind === kind ? 'true' : undefined}
            >
              {managed.label}
            </a>
          ))}
          <a href={hrefOf('json')}>All kinds</a>
        </div>
        {may(permission, 'create') && (
          <a class="button primary" href={newHref(kind)}>
            New {kindName(kind)}
          </a>
        )}
      </div>
      <div class={id || isNew ? 'graph-body has-panel' : 'graph-body'}>
        <EntityTable key={kind} kind={kind} view="manage" selected={isNew ? '' : id} version={version} />
        {isNew && kind === 'identities' && may(permission, 'create') && (
          <aside class="panel" aria-label={`New ${kindName(kind)}`}>
            <PanelTitle kind={kind} name={`New ${kindName(kind)}`} />
            <CreateIdentity onCreated={onCreated} />
          </aside>
        )}
        {id && !isNew && <EntityPanel key={id} kind={kind} id={id} onChange={onChange} />}
      </div>
    </section>
  )
}

/** The form of a new entity of a kind: the form shows at once whom a policy would give access. */
function newHref(kind: ManagedKind): string {
  if (kind === 'service-policies') return hrefOf('what-if', { change: 'empty-policy' })
  return hrefOf(kind === 'identities' ? 'manage' : 'json', { kind, new: 'true' })
}
