import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { AnswerOf, PortcullisApi } from '../../../../../src/client/index.ts'
import { isOfNothing } from '../events/network-event.ts'
import { type KindForm, readForms } from '../forms/form-schemas.ts'
import { ActionProblem, useAction } from '../parts/action.tsx'
import { EntityLink, Name, Time } from '../parts/entity-link.tsx'
import { foldRuns, type Run } from '../parts/fold.ts'
import { Loaded } from '../parts/loaded.tsx'
import { type Answer, useAnswer } from '../parts/use-answer.ts'
import { countedName, kindName, numberText } from '../parts/words.ts'
import { may, session, useApis } from '../session/session.ts'
import { type ChangeGroup, countsText, deedsOf, groupsOf } from './change-groups.ts'
import { type AuditEntry, Consequences } from './consequences.tsx'
import { FieldChanges, movedOf } from './field-changes.tsx'

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
  'access.requested': 'asked for access:',
  'access.decided': 'decided',
}

interface TrailProps {
  readonly answer: Answer<{ readonly entries: readonly AuditEntry[]; readonly next: string | null }>
  readonly empty: string
  /** Shows the records before one; the list ends where it is left out. */
  readonly onEarlier?: (before: string) => void
}

/**
 * A page of the audit trail as sentences: the actor, the action, and the old and the new value of each field. The records of one request
 * are one line that opens, and so are equal actions on several entities, and bookkeeping. It is read again after a change was taken back.
 */
export function Trail({ answer, empty, onEarlier }: TrailProps) {
  const forms = useAnswer(readForms, [], isOfNothing).data
  const undoOf = (entry: AuditEntry) => mayUndo(entry, forms) && <Undo entry={entry} onDone={answer.reload} />
  return (
    <Loaded answer={answer} isEmpty={({ entries }) => entries.length === 0} empty={empty}>
      {({ entries, next }) => (
        <>
          <ol class="audit" data-results>
            {foldRuns(groupsOf(entries), sayingOf).map((run) => (
              <GroupRun key={run.last.entries.at(-1)?.id} run={run} undoOf={undoOf} />
            ))}
          </ol>
          {onEarlier && next !== null && (
            <button type="button" onClick={() => onEarlier(next)}>
              Earlier ones
            </button>
          )}
        </>
      )}
    </Loaded>
  )
}

/** A text that is equal for requests of one actor with the same change of several entities of a kind. */
function sayingOf({ main }: ChangeGroup): string {
  return JSON.stringify(
    main.map(({ type, actor, author, entity, changes }) => {
      // They differ in their names only.
      const { name: _, ...others } = changes
      const moves = Object.entries(others).map(([field, change]) => [field, movedOf(change) ?? change])
      return [type, actor?.id, author, entity?.kind, moves]
    }),
  )
}

interface RunProps {
  readonly run: Run<ChangeGroup>
  readonly undoOf: (entry: AuditEntry) => ComponentChildren
}

function GroupRun({ run: { first, events }, undoOf }: RunProps) {
  const [isOpen, setOpen] = useState(false)
  const { main, beside, isBookkeeping, isFolded } = first
  const [latest] = first.entries
  const [only] = main.length === 1 && !isFolded ? main : []
  const all = events.flatMap(({ entries }) => entries)
  if (latest === undefined) return null
  const others = all.filter((entry) => entry !== only)
  return (
    <>
      <li class={isFolded ? 'is-bookkeeping' : undefined}>
        <Time at={String(latest.at)} />
        <div>
          <p>{isBookkeeping ? <>Bookkeeping of the controller: {countsText(main)}</> : <Sentence entries={main} />}</p>
          {all.length > 1 && (
            <button type="button" class="link" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
              {events.length > 1
                ? `and the same of ${numberText(events.length - 1)} more`
                : beside.length > 0 && !isFolded
                  ? `with ${countsText(beside)}`
                  : 'each of them'}
            </button>
          )}
          {only && <FieldChanges entry={only} />}
          {!isFolded && <Consequences entries={all} />}
          {/* One of several is taken back where it stands by itself. */}
          {only && (events.length === 1 || isOpen) && undoOf(only)}
        </div>
      </li>
      {isOpen &&
        others.map((entry) => (
          <li key={entry.id} class="is-below">
            <Time at={String(entry.at)} />
            <div>
              <p>
                <Sentence entries={[entry]} />
              </p>
              <FieldChanges entry={entry} />
              {!isBookkeeping && <Consequences entries={[entry]} />}
              {undoOf(entry)}
            </div>
          </li>
        ))}
    </>
  )
}

/** The actor and its deeds: the entity where there is one of a kind, and else how many. */
function Sentence({ entries }: { entries: readonly AuditEntry[] }) {
  const deeds = deedsOf(entries)
  return (
    <>
      {entries[0] && <Actor entry={entries[0]} />}
      {entries[0]?.facts.undoes !== undefined && ' took a change back:'}
      {deeds.map((of, place) => {
        const { type = '', entity = null } = of[0] ?? {}
        return (
          <span key={`${type} ${entity?.kind}`}>
            {place === 0 ? ' ' : place === deeds.length - 1 ? ' and ' : ', '}
            {DONE[type] ?? type}{' '}
            {entity && of.length === 1 && (
              <>
                {kindName(entity.kind)} <EntityLink {...entity} />
              </>
            )}
            {entity && of.length > 1 && countedName(entity.kind, of.length)}
          </span>
        )
      })}
    </>
  )
}

function Actor({ entry: { actor, author } }: { entry: AuditEntry }) {
  if (actor) return <EntityLink kind="identities" {...actor} />
  return <Name of={author?.name ?? (author?.by === 'operator' ? 'an operator' : 'the controller')} />
}

type Plan = AnswerOf<PortcullisApi['GET /audit/{id}/undo']>['data']

/** Takes a change back: first as a plan that is looked at, then by the tag of that plan, so that nothing later is overwritten. */
function Undo({ entry, onDone }: { entry: AuditEntry; onDone: () => void }) {
  const { portcullis } = useApis()
  const [plan, setPlan] = useState<Plan>()
  const action = useAction()
  const { isBusy, problem } = action
  const params = { id: entry.id }
  const look = async () => {
    const step = async () => setPlan((await portcullis.call('GET /audit/{id}/undo', { params })).data)
    if (!(await action.run('The plan is there.', step))) setPlan(undefined)
  }
  const apply = async (tag: string) => {
    const request = { params, headers: { 'if-match': `"${tag}"` } }
    const isDone = await action.run('The change was taken back.', () =>
      portcullis.call('POST /audit/{id}/undo', request),
    )
    setPlan(undefined)
    if (isDone) onDone()
  }
  return (
    <>
      <button type="button" class="link" aria-expanded={plan !== undefined} disabled={isBusy} onClick={look}>
        undo…
      </button>
      <ActionProblem of={problem} />
      {plan && (
        <div class="undo">
          <ul class="sentences">
            {plan.text.split('\n').map((line) => (
              <li key={line} class={line.startsWith('  ') ? 'is-below' : undefined}>
                {line.trim()}
              </li>
            ))}
          </ul>
          {plan.action !== null && (
            <button type="button" class="primary" disabled={isBusy} onClick={() => apply(plan.tag)}>
              {isBusy ? 'Writing…' : 'Yes, take it back'}
            </button>
          )}{' '}
          <button type="button" disabled={isBusy} onClick={() => setPlan(undefined)}>
            Close
          </button>
        </div>
      )}
    </>
  )
}

/** Reports whether a change can be taken back by a request of the API that the logged in user may make. */
function mayUndo({ type, entity, changes }: AuditEntry, forms: Readonly<Record<string, KindForm>> = {}): boolean {
  const form = entity === null ? undefined : forms[entity.kind]
  if (form === undefined) return false
  // The controller keeps the credential by which its caller logs in.
  if (entity?.kind === 'authenticators' && changes.identityId?.after === session.value?.id) return false
  const { permission, create, change, isDeleted } = form
  if (type === 'entity.created') return isDeleted && may(permission, 'delete')
  if (type === 'entity.deleted') return create !== undefined && may(permission, 'create')
  const fields = change?.properties ?? {}
  const isWritable = Object.keys(changes).some((field) => field in fields || field.replace(/Id$/, '') in fields)
  return type === 'entity.updated' && isWritable && may(permission, 'update')
}
