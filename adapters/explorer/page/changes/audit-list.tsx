import { visibleLine } from '../../../../src/base/text.ts'
import type { Apis } from '../api/apis.ts'
import { EntityLink } from '../parts/entity-link.tsx'
import { Name } from '../parts/name.tsx'
import { timeText } from '../parts/time-text.ts'
import { type AuditEntry, Consequences } from './consequences.tsx'

const DONE: Readonly<Record<string, string>> = {
  'entity.created': 'created',
  'entity.updated': 'changed',
  'entity.deleted': 'deleted',
}

/** Records of the audit trail as sentences: who did what, and each field from what to what. */
export function AuditList({ apis, entries }: { apis: Apis; entries: readonly AuditEntry[] }) {
  return (
    <ol class="audit">
      {entries.map((entry) => (
        <li key={entry.id}>
          <time dateTime={String(entry.at)}>{timeText(String(entry.at))}</time>
          <div>
            <p>
              <Actor entry={entry} /> {DONE[entry.type] ?? entry.type}{' '}
              {entry.entity && (
                <>
                  {entry.entity.kind.replaceAll('-', ' ')} <EntityLink {...entry.entity} />
                </>
              )}
            </p>
            <dl class="diff">
              {Object.entries(entry.changes).map(([field, change]) => (
                <Field key={field} field={field} change={change} />
              ))}
            </dl>
            <Consequences apis={apis} entry={entry} />
          </div>
        </li>
      ))}
    </ol>
  )
}

function Actor({ entry: { actor, author } }: { entry: AuditEntry }) {
  if (actor) return <EntityLink kind="identities" {...actor} />
  return <Name of={author?.name ?? (author?.by === 'operator' ? 'an operator' : 'the controller')} />
}

function Field({ field, change }: { field: string; change: { before?: unknown; after?: unknown } }) {
  const [before, after] = [listOf(change.before), listOf(change.after)]
  if (before !== undefined || after !== undefined) {
    const gone = (before ?? []).filter((one) => !(after ?? []).includes(one))
    const come = (after ?? []).filter((one) => !(before ?? []).includes(one))
    return (
      <>
        <dt>{field}</dt>
        <dd>
          {gone.map((one) => (
            <span key={`gone ${one}`} class="loss">
              − <Name of={one} />{' '}
            </span>
          ))}
          {come.map((one) => (
            <span key={`come ${one}`} class="gain">
              + <Name of={one} />{' '}
            </span>
          ))}
        </dd>
      </>
    )
  }
  return (
    <>
      <dt>{field}</dt>
      <dd>
        {change.before !== undefined && <span class="loss">{shown(change.before)}</span>}{' '}
        {change.after !== undefined && <span class="gain">→ {shown(change.after)}</span>}
      </dd>
    </>
  )
}

function listOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : undefined
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return visibleLine(text.length > 120 ? `${text.slice(0, 120)}…` : text)
}
