import type { Apis } from '../api/apis.ts'
import { go, hrefOf } from '../navigation/place.ts'
import { CreateCheck } from './create-check.tsx'
import { CreateIdentity } from './create-identity.tsx'
import { CreateService } from './create-service.tsx'
import { MANAGED_KINDS, type ManagedKind } from './kinds.ts'

interface Props {
  readonly apis: Apis
  readonly kind: ManagedKind
  readonly onCreated: () => void
}

/** Creates one of a kind, and shows it. */
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
