import { useState } from 'preact/hooks'
import type { ManagementApi, RequestOf } from '../../../../../src/client/index.ts'
import type { Apis } from '../api/apis.ts'
import { endIn, LifetimeField, USUAL_HOURS } from './enrollment.tsx'
import { NewEntityForm } from './new-entity-form.tsx'

type Invitation = NonNullable<RequestOf<ManagementApi['POST /enrollments']>['body']>

const TYPES = ['Device', 'User', 'Service'] as const

interface Props {
  readonly apis: Apis
  readonly onCreated: (id: string) => void
}

/** Creates an identity that is invited to enroll. */
export function CreateIdentity({ apis, onCreated }: Props) {
  const [type, setType] = useState<(typeof TYPES)[number]>('Device')
  const [method, setMethod] = useState<'ott' | 'updb' | 'none'>('ott')
  const [hours, setHours] = useState<number>(USUAL_HOURS)
  const [isAdmin, setAdmin] = useState(false)
  return (
    <NewEntityForm
      apis={apis}
      kind="identities"
      onCreated={onCreated}
      create={async (named) => {
        const body = { ...named, type, isAdmin }
        const { id: identityId } = (await apis.management.call('POST /identities', { body })).data
        const invitation = { identityId, expiresAt: endIn(hours) }
        const invite = (body: Invitation) => apis.management.call('POST /enrollments', { body })
        if (method === 'ott') await invite({ ...invitation, method })
        if (method === 'updb') await invite({ ...invitation, method, username: named.name })
        return identityId
      }}
    >
      <label>
        Type
        <select
          value={type}
          onChange={({ currentTarget }) => setType(TYPES.find((one) => one === currentTarget.value) ?? 'Device')}
        >
          {TYPES.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </label>
      <label>
        Enrollment
        <select
          value={method}
          onChange={({ currentTarget: { value } }) => setMethod(value === 'updb' || value === 'none' ? value : 'ott')}
        >
          <option value="ott">by a token that is good once, for a certificate</option>
          <option value="updb">by a token that is good once, for a password</option>
          <option value="none">none yet</option>
        </select>
      </label>
      {method !== 'none' && <LifetimeField hours={hours} onChange={setHours} />}
      <label class="toggle">
        <input type="checkbox" checked={isAdmin} onChange={({ currentTarget }) => setAdmin(currentTarget.checked)} />
        Administrator, who may do everything
      </label>
    </NewEntityForm>
  )
}
