import { useState } from 'preact/hooks'
import type { Apis } from '../api/apis.ts'
import { NewEntityForm } from './new-entity-form.tsx'

interface Props {
  readonly apis: Apis
  readonly onCreated: (id: string) => void
}

/** Creates a service. */
export function CreateService({ apis, onCreated }: Props) {
  const [encryptionRequired, setEncryptionRequired] = useState(true)
  return (
    <NewEntityForm
      apis={apis}
      kind="services"
      onCreated={onCreated}
      create={async (named) =>
        (await apis.management.call('POST /services', { body: { ...named, encryptionRequired } })).data.id
      }
    >
      <label class="toggle">
        <input
          type="checkbox"
          checked={encryptionRequired}
          onChange={({ currentTarget }) => setEncryptionRequired(currentTarget.checked)}
        />
        Encrypted from end to end
      </label>
    </NewEntityForm>
  )
}
