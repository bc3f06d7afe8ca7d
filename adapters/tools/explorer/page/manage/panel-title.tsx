import { hrefOf } from '../navigation/place.ts'
import { Name } from '../parts/name.tsx'
import { tableMembers } from '../table/table-place.ts'
import type { ManagedKind } from './kinds.ts'

/** The name of an entity, and the button that closes its panel. */
export function PanelTitle({ kind, name }: { kind: ManagedKind; name: string }) {
  return (
    <div class="panel-head">
      <h2>
        <Name of={name} />
      </h2>
      <a class="button quiet" aria-label="Close" href={hrefOf('manage', { kind, ...tableMembers() })}>
        ✕
      </a>
    </div>
  )
}
