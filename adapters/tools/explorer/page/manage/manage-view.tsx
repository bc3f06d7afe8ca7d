import { useState } from 'preact/hooks'
import type { ManagementApi, RequestOf } from '../../../../../src/client/index.ts'
import { go, hrefOf, place } from '../navigation/place.ts'
import { ActionProblem, useAction } from '../parts/action.tsx'
import { attributeChip } from '../parts/chip.ts'
import { ChipsField } from '../parts/chips-field.tsx'
import { Choice, TextInput, Toggle } from '../parts/fields.tsx'
import { kindName, pluralName, wordsOf } from '../parts/words.ts'
import { may, mayRead, useApis } from '../session/session.ts'
import { EntityTable } from '../table/entity-table.tsx'
import { endIn, LifetimeField, USUAL_HOURS } from './enrollment.tsx'
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

type Invitation = NonNullable<RequestOf<ManagementApi['POST /enrollments']>['body']>

const TYPES = { Device: 'Device', User: 'User', Service: 'Service' } as const

/** Creates an identity that is invited to enroll. */
function CreateIdentity({ onCreated }: { readonly onCreated: (id: string) => void }) {
  const apis = useApis()
  const [name, setName] = useState('')
  const [type, setType] = useState<keyof typeof TYPES>('Device')
  const [method, setMethod] = useState<string>('ott')
  const [hours, setHours] = useState<number>(USUAL_HOURS)
  const [isAdmin, setAdmin] = useState(false)
  const [roleAttributes, setRoleAttributes] = useState<readonly string[]>([])
  const action = useAction()
  const onSubmit = async (event: SubmitEvent) => {
    event.preventDefault()
    let id = ''
    const isDone = await action.run('Created.', async () => {
      const body = { name: name.trim(), roleAttributes: [...roleAttributes], type, isAdmin }
      id = (await apis.management.call('POST /identities', { body })).data.id
      const invitation = { identityId: id, expiresAt: endIn(hours) }
      const invite = (body: Invitation) => apis.management.call('POST /enrollments', { body })
      if (method === 'ott') await invite({ ...invitation, method })
      if (method === 'updb') await invite({ ...invitation, method, username: body.name })
    })
    if (isDone) onCreated(id)
  }
  return (
    <form class="fields" onSubmit={onSubmit}>
      <TextInput label="Name" name="name" required autocomplete="off" value={name} onChange={setName} />
      <Choice
        label="Type"
        value={type}
        of={TYPES}
        onChange={(value) => setType(Object.values(TYPES).find((one) => one === value) ?? 'Device')}
      />
      <Choice
        label="Enrollment"
        value={method}
        of={{ ott: 'a certificate, by a token', updb: 'a password, by a token', none: 'none yet' }}
        onChange={setMethod}
      />
      {method !== 'none' && <LifetimeField hours={hours} onChange={setHours} />}
      <Toggle label="Administrator, who may do everything" isOn={isAdmin} onChange={setAdmin} />
      <ChipsField
        label="Role attributes"
        chips={roleAttributes.map(attributeChip)}
        kind="identities"
        of="attributes"
        onChange={(chips) => setRoleAttributes(chips.map(({ value }) => value))}
      />
      <ActionProblem of={action.problem} />
      <button type="submit" class="primary" disabled={action.isBusy}>
        Create
      </button>
    </form>
  )
}
