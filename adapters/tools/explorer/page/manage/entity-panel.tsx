import type { Apis } from '../api/apis.ts'
import { deleteOf, readJson, rowOf } from '../api/read-json.ts'
import { isOfAny, isOfIdentity, isOfNetwork } from '../events/network-event.ts'
import { go, hrefOf } from '../navigation/place.ts'
import { ActionButton } from '../parts/action.tsx'
import { hrefOfEntity, Name } from '../parts/entity-link.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { kindName } from '../parts/words.ts'
import { may, useApis } from '../session/session.ts'
import { withDetails } from '../table/identity-details.ts'
import { tableOf } from '../table/table-kinds.ts'
import { tableMembers } from '../table/table-place.ts'
import { Enrollment, type Identity } from './enrollment.tsx'

/** The kinds of entities with a table and a panel here; all kinds have theirs in Set up. */
export const MANAGED_KINDS = ['identities', 'services', 'service-policies', 'posture-checks'] as const
export type ManagedKind = (typeof MANAGED_KINDS)[number]

/** A kind as permissions name it. */
export function permissionOf(kind: ManagedKind): string {
  return kindName(kind).replaceAll(' ', '-')
}

interface Props {
  readonly kind: ManagedKind
  readonly id: string
  /** The lists are to be read again. */
  readonly onChange: () => void
}

/** Shows one entity with what its table shows in all columns, and with its actions. */
export function EntityPanel({ kind, id, onChange }: Props) {
  const apis = useApis()
  const answer = useAnswer(
    (signal) => readPanel(apis, kind, id, signal),
    [apis, kind, id],
    isOfAny(isOfNetwork, isOfIdentity(id)),
  )
  const { row, identity } = answer.data ?? {}
  const onDone = () => {
    answer.reload()
    onChange()
  }
  const onDeleted = () => {
    onChange()
    go('manage', { kind, ...tableMembers() })
  }
  return (
    <aside class="panel" aria-label="Selected">
      <PanelTitle kind={kind} name={row?.name ?? ''} />
      {answer.problem && <p class="problem">{answer.problem}</p>}
      {row && (
        <dl class="facts">
          {Object.values(tableOf(kind).columns).map(({ title, show, text }) => (
            <>
              <dt>{title}</dt>
              <dd>{show?.(row) || text(row) || <span class="muted">none</span>}</dd>
            </>
          ))}
        </dl>
      )}
      {identity && <IdentityActs identity={identity} onDone={onDone} />}
      <section class="panel-links">
        <a href={hrefOfEntity(kind, id)}>Its page</a>
        {kind === 'services' && <a href={hrefOf('why', { service: id })}>Why somebody reaches it</a>}
        {kind === 'identities' && <a href={hrefOf('why', { identity: id })}>Why it reaches a service</a>}
        {kind !== 'posture-checks' && (
          <a href={hrefOf('what-if', { change: 'edit', of: kind, id })}>What if it were different</a>
        )}
        <a href={hrefOf('json', { kind, id })}>Change its fields</a>
        <a href={hrefOf('json', { kind, id, as: 'json' })}>All of it as JSON</a>
      </section>
      {may(permissionOf(kind), 'delete') && (
        <section>
          <ActionButton
            label="Delete"
            question="Delete it for good?"
            done="Deleted."
            act={() => deleteOf(apis, kind, id)}
            onDone={onDeleted}
          />
        </section>
      )}
    </aside>
  )
}

/** An entity as a row of its table. An identity has its sessions and certificates as well. */
async function readPanel(apis: Apis, kind: ManagedKind, id: string, signal: AbortSignal) {
  if (kind !== 'identities') return { row: rowOf(await readJson(apis, kind, id, signal)) }
  const { data } = await apis.management.call('GET /identities/{id}', { params: { id }, signal })
  const [row] = await withDetails(apis, [rowOf(data)], Object.keys(tableOf(kind).columns), signal)
  return { row, identity: data }
}

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

/** Whether an identity may log in, its second factor, and its invitation to enroll. */
function IdentityActs({ identity, onDone }: { readonly identity: Identity; readonly onDone: () => void }) {
  const { management } = useApis()
  const params = { id: identity.id }
  return (
    <>
      {may('identity', 'update') && (
        <div class="actions">
          {identity.disabled ? (
            <ActionButton
              label="Enable"
              done="Enabled."
              act={() => management.call('POST /identities/{id}/enable', { params })}
              onDone={onDone}
            />
          ) : (
            <ActionButton
              label="Disable"
              question="End its sessions and let it in no more?"
              done="Disabled."
              act={() => management.call('POST /identities/{id}/disable', { params, body: { durationMinutes: 0 } })}
              onDone={onDone}
            />
          )}
          {identity.isMfaEnabled && (
            <ActionButton
              label="Reset second factor"
              question="Take its second factor away?"
              done="The second factor is taken away."
              act={() => management.call('DELETE /identities/{id}/mfa', { params })}
              onDone={onDone}
            />
          )}
        </div>
      )}
      <Enrollment identity={identity} onChange={onDone} />
    </>
  )
}
