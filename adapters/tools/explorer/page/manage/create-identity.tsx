import { useState } from 'preact/hooks'
import type { ManagementApi, RequestOf } from '../../../../../src/client/index.ts'
import { ActionProblem, useAction } from '../parts/action.tsx'
import { attributeChip } from '../parts/chip.ts'
import { ChipsField } from '../parts/chips-field.tsx'
import { Choice, TextInput, Toggle } from '../parts/fields.tsx'
import { useApis } from '../session/session.ts'
import { endIn, LifetimeField, USUAL_HOURS } from './enrollment.tsx'

type Invitation = NonNullable<RequestOf<ManagementApi['POST /enrollments']>['body']>

const TYPES = ['Device', 'User', 'Service'] as const

/** Creates an identity that is invited to enroll. */
export function CreateIdentity({ onCreated }: { readonly onCreated: (id: string) => void }) {
  const apis = useApis()
  const [name, setName] = useState('')
  const [type, setType] = useState<(typeof TYPES)[number]>('Device')
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
        onChange={(value) => setType(TYPES.find((one) => one === value) ?? 'Device')}
      />
      <Choice
        label="Enrollment"
        value={method}
        of={[
          ['ott', 'a certificate, by a token'],
          ['updb', 'a password, by a token'],
          ['none', 'none yet'],
        ]}
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
