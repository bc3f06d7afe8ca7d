import { useState } from 'preact/hooks'
import type { Apis } from '../api/apis.ts'
import { NewEntityForm } from './new-entity-form.tsx'

const TYPES = ['Device', 'User', 'Service'] as const

interface Props {
  readonly apis: Apis
  readonly onCreated: (id: string) => void
}

/** Creates an identity that is invited to enroll. */
export function CreateIdentity({ apis, onCreated }: Props) {
  const [type, setType] = useState<(typeof TYPES)[number]>('Device')
  const [method, setMethod] = useState<'ott' | 'updb' | 'none'>('ott')
  const [isAdmin, setAdmin] = useState(false)
  return (
    <NewEntityForm
      apis={apis}
      kind="identities"
      onCreated={onCreated}
      create={async (named) => {
        const enrollment = { ott: { ott: true }, updb: { updb: named.name }, none: {} }[method]
        const body = { ...named, type, isAdmin, enrollment }
        return (await apis.management.call('POST /identities', { body })).data.id
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
      <label class="toggle">
        <input type="checkbox" checked={isAdmin} onChange={({ currentTarget }) => setAdmin(currentTarget.checked)} />
        Administrator, who may do everything
      </label>
    </NewEntityForm>
  )
}
