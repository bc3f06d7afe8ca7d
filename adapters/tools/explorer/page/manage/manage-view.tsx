import { useState } from 'preact/hooks'
import { go, hrefOf, place } from '../navigation/place.ts'
import { kindName, pluralName, wordsOf } from '../parts/words.ts'
import { may, mayRead } from '../session/session.ts'
import { EntityTable } from '../table/entity-table.tsx'
import { CreateIdentity } from './create-identity.tsx'
import { EntityPanel, MANAGED_KINDS, type ManagedKind, PanelTitle, permissionOf } from './entity-panel.tsx'

/** Identities, services, policies and checks: found, created, and the common things done to them. */
export function ManageView() {
  const { about } = place.value
  const kind = MANAGED_KINDS.find((one) => one === about.get('kind')) ?? 'identities'
  const id = about.get('id') ?? undefined
  const isNew = about.has('new')
  const [version, setVersion] = useState(0)
  const mayCreate = may(permissionOf(kind), 'create')
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
          {MANAGED_KINDS.filter((one) => mayRead(permissionOf(one))).map((one) => (
            <a key={one} href={hrefOf('manage', { kind: one })} aria-current={one === kind ? 'true' : undefined}>
              {wordsOf(pluralName(one, 2))}
            </a>
          ))}
          <a href={hrefOf('json')}>All kinds</a>
        </div>
        {mayCreate && (
          <a class="button primary" href={newHref(kind)}>
            New {kindName(kind)}
          </a>
        )}
      </div>
      <div class={id || isNew ? 'graph-body has-panel' : 'graph-body'}>
        <EntityTable key={kind} kind={kind} view="manage" selected={isNew ? '' : id} version={version} />
        {isNew && kind === 'identities' && mayCreate && (
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
