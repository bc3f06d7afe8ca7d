import { useState } from 'preact/hooks'
import type { AnswerOf, PortcullisApi, RequestOf } from '../../../../src/client/index.ts'
import type { Apis } from '../api/apis.ts'
import { EntityLink } from '../parts/entity-link.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { numberText } from '../parts/number-text.ts'
import { useAnswer } from '../parts/use-answer.ts'

/** A record of the audit trail. */
export type AuditEntry = AnswerOf<PortcullisApi['GET /audit']>['data']['entries'][number]

type Change = NonNullable<RequestOf<PortcullisApi['POST /simulate']>['body']>['changes'][number]

const KINDS = ['identities', 'services', 'service-policies'] as const
const FIELDS = ['name', 'type', 'semantic', 'roleAttributes', 'identityRoles', 'serviceRoles', 'postureCheckRoles']

/** Who lost and who gained access by a change: what taking it back would give and take, in the network as it is now. */
export function Consequences({ apis, entry }: { apis: Apis; entry: AuditEntry }) {
  const [isOpen, setOpen] = useState(false)
  const undone = undoing(entry)
  if (undone === undefined) return null
  return (
    <>
      <button type="button" class="link" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        who lost or gained access by it
      </button>
      {isOpen && <Difference apis={apis} undone={undone} />}
    </>
  )
}

function Difference({ apis, undone }: { apis: Apis; undone: Change }) {
  const answer = useAnswer(
    async (signal) => {
      const body = { changes: [undone], limit: 50 }
      return (await apis.portcullis.call('POST /simulate', { body, signal })).data
    },
    [apis, JSON.stringify(undone)],
  )
  return (
    <Loaded answer={answer} isEmpty={({ pairs }) => pairs.length === 0} empty="Nobody.">
      {({ pairs, counts }) => (
        <>
          {counts && (
            <p>
              <span class="loss">− {numberText(counts.dial.gained + counts.bind.gained)} lost</span>{' '}
              <span class="gain">+ {numberText(counts.dial.lost + counts.bind.lost)} gained</span>
            </p>
          )}
          <ul class="plain">
            {pairs.map(({ identity, service, type, change }) => (
              <li key={`${identity.id} ${service.id} ${type}`} class={change === 'gained' ? 'loss' : 'gain'}>
                {change === 'gained' ? '−' : '+'} <EntityLink kind="identities" {...identity} /> {type}{' '}
                <EntityLink kind="services" {...service} />
              </li>
            ))}
          </ul>
        </>
      )}
    </Loaded>
  )
}

/** The change that takes a recorded one back; undefined for what decides no access. */
function undoing({ type, entity, changes }: AuditEntry): Change | undefined {
  const kind = KINDS.find((one) => one === entity?.kind)
  if (kind === undefined || !entity) return undefined
  const before: Record<string, unknown> = {}
  for (const field of FIELDS) {
    const change = changes[field]
    // A list that was empty is the default, which a record leaves out.
    if (change !== undefined) before[field] = change.before ?? (Array.isArray(change.after) ? [] : undefined)
  }
  const { id } = entity
  if (type === 'entity.created') return { kind, action: 'delete', id }
  if (Object.keys(before).length === 0) return undefined
  if (type === 'entity.updated') return { kind, action: 'update', id, body: before }
  return type === 'entity.deleted' ? { kind, action: 'create', id, body: { ...DEFAULTS[kind], ...before } } : undefined
}

/** The members that a new entity of a kind must have, as they are where a record leaves them out. */
const DEFAULTS: Readonly<Record<(typeof KINDS)[number], Readonly<Record<string, unknown>>>> = {
  identities: { type: 'Device', isAdmin: false },
  services: { encryptionRequired: true },
  'service-policies': { type: 'Dial', semantic: 'AnyOf' },
}
