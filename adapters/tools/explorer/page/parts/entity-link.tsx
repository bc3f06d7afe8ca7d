import { hrefOf } from '../navigation/place.ts'
import { Name } from './name.tsx'

interface Props {
  /** The resource, for example `identities`. */
  readonly kind: string
  readonly id: string
  /** Null when the entity is gone, or the user may not see its name. */
  readonly name: string | null | undefined
}

/** The name of an entity, which leads to its page. */
export function EntityLink({ kind, id, name }: Props) {
  return (
    <a class={`entity entity-${kind}`} href={hrefOfEntity(kind, id)}>
      <Name of={name || id} />
    </a>
  )
}

/** The views that show one entity of a kind. */
const VIEW_OF: Readonly<Record<string, string>> = {
  identities: 'identity',
  services: 'service',
  'edge-routers': 'router',
  'service-policies': 'policy',
  'edge-router-policies': 'edge-router-policy',
  'service-edge-router-policies': 'service-edge-router-policy',
  'posture-checks': 'check',
}

/** The address of an entity's page; of its JSON for kinds without a page. */
export function hrefOfEntity(kind: string, id: string): string {
  const view = VIEW_OF[kind]
  if (view === undefined) return hrefOf('json', { kind, id })
  return hrefOf(view, { id })
}
