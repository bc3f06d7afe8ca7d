import { useState } from 'preact/hooks'
import type { Apis } from '../api/apis.ts'
import { hrefOf, place } from '../navigation/place.ts'
import { may, mayRead } from '../session/session.ts'
import { CreateForm } from './create-form.tsx'
import { EntityList } from './entity-list.tsx'
import { EntityPanel } from './entity-panel.tsx'
import { MANAGED_KINDS, managedKind } from './kinds.ts'

/** Identities, services, policies and checks: found, created, and the common things done to them. */
export function ManageView({ apis }: { apis: Apis }) {
  const { about } = place.value
  const kind = managedKind(about.get('kind'))
  const id = about.get('id') ?? undefined
  const isNew = about.has('new')
  const [version, setVersion] = useState(0)
  const { one = '', permission = '' } = MANAGED_KINDS.find((managed) => managed.kind === kind) ?? {}
  const onChange = () => setVersion(version + 1)
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
          <a
            class="button primary"
            href={
              kind === 'service-policies'
                ? hrefOf('what-if', { change: 'empty-policy' })
                : hrefOf('manage', { kind, new: 'true' })
            }
          >
            New {one}
          </a>
        )}
      </div>
      <div class={id || isNew ? 'graph-body has-panel' : 'graph-body'}>
        <EntityList key={kind} apis={apis} kind={kind} selected={id} version={version} />
        {isNew && may(permission, 'create') && <CreateForm key={kind} apis={apis} kind={kind} onCreated={onChange} />}
        {id && !isNew && <EntityPanel key={id} apis={apis} kind={kind} id={id} onChange={onChange} />}
      </div>
    </section>
  )
}
