import { useState } from 'preact/hooks'
import type { Apis } from '../api/apis.ts'
import { go, hrefOf } from '../navigation/place.ts'
import { CreateCheck } from './create-check.tsx'
import { CreateIdentity } from './create-identity.tsx'
import { MANAGED_KINDS, type ManagedKind } from './kinds.ts'
import { NewEntityForm } from './new-entity-form.tsx'

interface Props {
  readonly apis: Apis
  readonly kind: ManagedKind
  readonly onCreated: () => void
}

/** Creates an entity of a kind, and shows it. */
export function CreateForm({ apis, kind, onCreated }: Props) {
  const one = MANAGED_KINDS.find((managed) => managed.kind === kind)?.one ?? ''
  const created = (id: string) => {
    onCreated()
    go('manage', { kind, id })
  }
  return (
    <aside class="panel" aria-label={`New ${one}`}>
      <div class="panel-head">
        <h2>New {one}</h2>
        <a class="button quiet" aria-label="Close" href={hrefOf('manage', { kind })}>
          ✕
        </a>
      </div>
      {kind === 'identities' && <CreateIdentity apis={apis} onCreated={created} />}
      {kind === 'services' && <CreateService apis={apis} onCreated={created} />}
      {kind === 'posture-checks' && <CreateCheck apis={apis} onCreated={created} />}
    </aside>
  )
}

/** Creates a service. */
function CreateService({ apis, onCreated }: { apis: Apis; onCreated: (id: string) => void }) {
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
