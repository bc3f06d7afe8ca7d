import { useState } from 'preact/hooks'
import { visibleLine } from '../../../../../src/base/text.ts'
import type { Apis } from '../api/apis.ts'
import { RoleLinks } from '../parts/attribute-link.tsx'
import { EntityLink } from '../parts/entity-link.tsx'
import { foldRuns, type Run } from '../parts/fold-runs.ts'
import { kindName } from '../parts/kind-names.ts'
import { Name } from '../parts/name.tsx'
import { numberText } from '../parts/number-text.ts'
import { Time } from '../parts/time.tsx'
import { timeText } from '../parts/time-text.ts'
import { type AuditEntry, Consequences } from './consequences.tsx'
import { Undo } from './undo.tsx'

const DONE: Readonly<Record<string, string>> = {
  'entity.created': 'created',
  'entity.updated': 'changed',
  'entity.deleted': 'deleted',
  'change.undone': 'took a change back of',
  'login.succeeded': 'logged in:',
  'login.refused': 'was not let in:',
  'enrollment.completed': 'enrolled:',
  'request.refused': 'was refused a request:',
  'service.refused': 'was refused the use of',
}

interface AuditListProps {
  readonly apis: Apis
  readonly entries: readonly AuditEntry[]
  /** Called after a change was taken back: the trail has a new record. */
  readonly onUndone: () => void
}

/**
 * Records of the audit trail as sentences: the actor, the action, and the old and the new value of each field. A run of equal actions on
 * several entities is one record that opens.
 */
export function AuditList({ apis, entries, onUndone }: AuditListProps) {
  return (
    <ol class="audit" data-results>
      {foldRuns(entries, sayingOf).map((run) => (
        <RecordRun key={run.last.id} apis={apis} run={run} onUndone={onUndone} />
      ))}
    </ol>
  )
}

/** A text that is equal for records of one actor with the same change of several entities of a kind. */
function sayingOf({ type, actor, author, entity, changes }: AuditEntry): string {
  // They differ in their names only.
  const { name: _, ...others } = changes
  const moves = Object.entries(others).map(([field, change]) => [field, movedOf(change) ?? change])
  return JSON.stringify([type, actor?.id, author, entity?.kind, moves])
}

interface RunProps extends Pick<AuditListProps, 'apis' | 'onUndone'> {
  readonly run: Run<AuditEntry>
}

function RecordRun({ apis, run: { first, events }, onUndone }: RunProps) {
  const [isOpen, setOpen] = useState(false)
  const others = events.length - 1
  const undoOf = (entry: AuditEntry) => <Undo apis={apis} entry={entry} onDone={onUndone} />
  return (
    <>
      <li>
        <Time at={String(first.at)} />
        <div>
          <Sentence entry={first} />
          {others > 0 && (
            <button type="button" class="link" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
              {`and the same of ${numberText(others)} more`}
            </button>
          )}
          <FieldChanges changes={first.changes} />
          <Consequences apis={apis} entries={events} />
          {/* One of them is taken back where it stands by itself. */}
          {(others === 0 || isOpen) && undoOf(first)}
        </div>
      </li>
      {isOpen &&
        events.slice(1).map((entry) => (
          <li key={entry.id}>
            <Time at={String(entry.at)} />
            <div>
              <Sentence entry={entry} />
              <FieldChanges changes={entry.changes} />
              <Consequences apis={apis} entries={[entry]} />
              {undoOf(entry)}
            </div>
          </li>
        ))}
    </>
  )
}

function Sentence({ entry }: { entry: AuditEntry }) {
  return (
    <p>
      <Actor entry={entry} /> {DONE[entry.type] ?? entry.type}{' '}
      {entry.entity && (
        <>
          {kindName(entry.entity.kind)} <EntityLink {...entry.entity} />
        </>
      )}
    </p>
  )
}

function Actor({ entry: { actor, author } }: { entry: AuditEntry }) {
  if (actor) return <EntityLink kind="identities" {...actor} />
  return <Name of={author?.name ?? (author?.by === 'operator' ? 'an operator' : 'the controller')} />
}

/** The greatest number of fields beside an event, and of their characters. */
const MOST_BRIEF = 4
const LONGEST_BRIEF = 100

/** The fields of a change with old and new values; short where the sentence before names the entity. */
export function FieldChanges({ changes, isBrief = false }: { changes: AuditEntry['changes']; isBrief?: boolean }) {
  const fields = Object.entries(changes)
  const brief = fields.filter(
    ([field, change]) => field !== 'name' && JSON.stringify(change).length <= LONGEST_BRIEF && !isDigest(change.after),
  )
  return (
    <dl class="diff">
      {(isBrief ? brief.slice(0, MOST_BRIEF) : fields).map(([field, change]) => (
        <Field key={field} field={field} change={change} />
      ))}
    </dl>
  )
}

/** The trail has only a digest of a secret or of a long value, which says nothing to a reader. */
function isDigest(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith('sha256:')
}

function Field({ field, change }: { field: string; change: { before?: unknown; after?: unknown } }) {
  const moved = movedOf(change)
  if (moved !== undefined) {
    const { gone, come } = moved
    return (
      <>
        <dt>{field}</dt>
        <dd>
          {gone.map((one) => (
            <span key={`gone ${one}`} class="loss">
              − <Entry field={field} value={one} />{' '}
            </span>
          ))}
          {come.map((one) => (
            <span key={`come ${one}`} class="gain">
              + <Entry field={field} value={one} />{' '}
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
        {change.before !== undefined && (
          <span class="loss">
            <Value field={field} value={change.before} />
          </span>
        )}{' '}
        {change.after !== undefined && (
          <span class="gain">
            → <Value field={field} value={change.after} />
          </span>
        )}
      </dd>
    </>
  )
}

/** The kinds that fields name by id, and that role lists select from. */
const KIND_OF: Readonly<Record<string, string>> = {
  identityId: 'identities',
  serviceId: 'services',
  edgeRouterId: 'edge-routers',
  routerId: 'edge-routers',
  authPolicyId: 'auth-policies',
  configTypeId: 'config-types',
  identityRoles: 'identities',
  serviceRoles: 'services',
  edgeRouterRoles: 'edge-routers',
  postureCheckRoles: 'posture-checks',
}

/** An entry of a list. An entry of a role list links to the page of its entity or role attribute. */
function Entry({ field, value }: { field: string; value: string }) {
  const kind = KIND_OF[field]
  if (kind === undefined || !/^[#@]/.test(value)) return <Name of={value} />
  return <RoleLinks kind={kind} roles={[{ role: value, name: value }]} />
}

function Value({ field, value }: { field: string; value: unknown }) {
  if (isDigest(value)) return <>not shown</>
  const kind = KIND_OF[field]
  if (kind !== undefined && typeof value === 'string' && value !== '')
    return <EntityLink kind={kind} id={value} name={value} />
  if (/At$/.test(field) && typeof value === 'number' && value > 0) return <>{timeText(new Date(value).toISOString())}</>
  return <>{shown(value)}</>
}

/** The entries that left a list and the entries that came into it; undefined where neither side is a list. */
function movedOf({ before, after }: { before?: unknown; after?: unknown }) {
  const [earlier, later] = [listOf(before), listOf(after)]
  if (earlier === undefined && later === undefined) return undefined
  return {
    gone: (earlier ?? []).filter((one) => !(later ?? []).includes(one)),
    come: (later ?? []).filter((one) => !(earlier ?? []).includes(one)),
  }
}

function listOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : undefined
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return visibleLine(text.length > 120 ? `${text.slice(0, 120)}…` : text)
}
