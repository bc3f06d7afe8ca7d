import { readJson, rowOf } from '../api/read-json.ts'
import { hrefOf } from '../navigation/place.ts'
import { Name } from '../parts/name.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { useApis } from '../session/use-apis.ts'
import { tableOf } from '../table/table-kinds.ts'
import { tableMembers } from '../table/table-place.ts'
import type { ManagedKind } from './kinds.ts'

/** The name of an entity with what its table shows, and the button that closes its panel. */
export function PanelHead({ kind, id }: { kind: ManagedKind; id: string }) {
  const apis = useApis()
  const { data, problem } = useAnswer(async (signal) => readJson(apis, kind, id, signal), [apis, kind, id])
  return (
    <>
      <PanelTitle kind={kind} name={rowOf(data).name} problem={problem} />
      {data !== undefined && <Facts kind={kind} of={data} />}
    </>
  )
}

/** The facts of an entity that its table shows, in all columns. */
export function Facts({ kind, of }: { kind: ManagedKind; of: unknown }) {
  const row = rowOf(of)
  return (
    <dl class="facts">
      {Object.values(tableOf(kind).columns).map(({ title, show, text }) => (
        <>
          <dt>{title}</dt>
          <dd>{show?.(row) || text(row) || <span class="muted">none</span>}</dd>
        </>
      ))}
    </dl>
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
        <a class="button quiet" aria-label="Close" href={hrefOf('manage', { kind, ...tableMembers() })}>
          ✕
        </a>
      </div>
      {problem && <p class="problem">{problem}</p>}
    </>
  )
}
