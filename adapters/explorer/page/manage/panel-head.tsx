import type { Apis } from '../api/apis.ts'
import { hrefOf } from '../navigation/place.ts'
import { Name } from '../parts/name.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import type { ManagedKind } from './kinds.ts'

/** The name of an entity, and the way out of its panel. */
export function PanelHead({ apis, kind, id }: { apis: Apis; kind: ManagedKind; id: string }) {
  const answer = useAnswer((signal) => nameOf(apis, kind, id, signal), [apis, kind, id])
  return <PanelTitle kind={kind} name={answer.data ?? ''} problem={answer.problem} />
}

interface TitleProps {
  readonly kind: ManagedKind
  readonly name: string
  readonly problem?: string | undefined
}

export function PanelTitle({ kind, name, problem }: TitleProps) {
  return (
    <>
      <div class="panel-head">
        <h2>
          <Name of={name} />
        </h2>
        <a class="button quiet" aria-label="Close" href={hrefOf('manage', { kind })}>
          ✕
        </a>
      </div>
      {problem && <p class="problem">{problem}</p>}
    </>
  )
}

async function nameOf({ management }: Apis, kind: ManagedKind, id: string, signal: AbortSignal): Promise<string> {
  const request = { params: { id }, signal }
  switch (kind) {
    case 'identities':
      return (await management.call('GET /identities/{id}', request)).data.name
    case 'services':
      return (await management.call('GET /services/{id}', request)).data.name
    case 'service-policies':
      return (await management.call('GET /service-policies/{id}', request)).data.name
    case 'posture-checks':
      return (await management.call('GET /posture-checks/{id}', request)).data.name
  }
}
