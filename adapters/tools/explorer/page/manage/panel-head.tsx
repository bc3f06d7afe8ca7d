import type { Apis } from '../api/apis.ts'
import { hrefOf } from '../navigation/place.ts'
import { RoleLinks } from '../parts/attribute-link.tsx'
import { Name } from '../parts/name.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import type { ManagedKind } from './kinds.ts'
import { ROLE_TITLES, readRow } from './read-page.ts'

/** The name of an entity with its kind and roles, and the button that closes its panel. */
export function PanelHead({ apis, kind, id }: { apis: Apis; kind: Exclude<ManagedKind, 'identities'>; id: string }) {
  const answer = useAnswer((signal) => readRow(apis, kind, id, signal), [apis, kind, id])
  const row = answer.data
  return (
    <>
      <PanelTitle kind={kind} name={row?.name ?? ''} problem={answer.problem} />
      {row && (
        <dl class="facts">
          <dt>Is</dt>
          <dd>{row.notes.join(' · ')}</dd>
          {row.roles.map(({ kind: of, entries }, place) => (
            <>
              <dt>{ROLE_TITLES[kind][place]}</dt>
              <dd class="chips">
                <RoleLinks kind={of} roles={entries} />
              </dd>
            </>
          ))}
        </dl>
      )}
    </>
  )
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
