import { useState } from 'preact/hooks'
import type { AccessRequest } from '../../../../../src/client/index.ts'
import { isOfKind } from '../events/network-event.ts'
import { ActionProblem, useAction } from '../parts/action.tsx'
import { Card } from '../parts/card.tsx'
import { EntityLink, Name, Time } from '../parts/entity-link.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { may, useApis } from '../session/session.ts'

const MOST_SHOWN = 20
const IS_OF_REQUESTS = isOfKind('access-requests')

/** Shows open requests for access to a user who may decide them; empty without an open request. */
export function OpenRequests() {
  return may('service-policy', 'create') ? <Requests /> : null
}

function Requests() {
  const apis = useApis()
  const answer = useAnswer(
    async (signal) => {
      const query = { filter: 'state = "open"', sort: 'createdAt', limit: MOST_SHOWN }
      return (await apis.portcullis.call('GET /access-requests', { query, signal })).data
    },
    [apis],
    IS_OF_REQUESTS,
  )
  const open = answer.data ?? answer.earlier ?? []
  if (open.length === 0) return null
  return (
    <Card title="Requests for access">
      <ul class="plain">
        {open.map((request) => (
          <OpenRequest key={request.id} request={request} onDone={answer.reload} />
        ))}
      </ul>
    </Card>
  )
}

/** One request with its decision: the access that was asked for, or a refusal, each with a note. */
function OpenRequest({ request, onDone }: { request: AccessRequest; onDone: () => void }) {
  const { portcullis } = useApis()
  const { id, identity, identityId, type, service, serviceFound, durationMs, reason, createdAt } = request
  const [note, setNote] = useState('')
  const action = useAction()
  const decision = { params: { id }, body: note === '' ? {} : { note } }
  const decide = async (done: string, step: () => Promise<unknown>) => {
    if (await action.run(done, step)) onDone()
  }
  return (
    <li>
      <span class="muted">
        <Time at={createdAt} />
      </span>{' '}
      <EntityLink kind="identities" id={identityId} name={identity?.name ?? identityId} /> asks to {type.toLowerCase()}{' '}
      {serviceFound ? <EntityLink kind="services" {...serviceFound} /> : <Name of={service} />} for{' '}
      {lengthText(durationMs)}, because: <Name of={reason} />
      {serviceFound === null && <span class="problem"> There is no such service.</span>}
      <div class="bar">
        <input
          aria-label="Note to the identity"
          placeholder="Note"
          maxLength={1024}
          value={note}
          onInput={({ currentTarget }) => setNote(currentTarget.value)}
        />
        <button
          type="button"
          class="primary"
          disabled={action.isBusy || serviceFound === null}
          onClick={() =>
            decide('The request is approved.', () => portcullis.call('POST /access-requests/{id}/approve', decision))
          }
        >
          Approve
        </button>
        <button
          type="button"
          disabled={action.isBusy}
          onClick={() =>
            decide('The request is refused.', () => portcullis.call('POST /access-requests/{id}/refuse', decision))
          }
        >
          Refuse
        </button>
      </div>
      <ActionProblem of={action.problem} />
    </li>
  )
}

/** A length of time in the largest unit that divides it: `2 h`. */
function lengthText(milliseconds: number): string {
  const minutes = Math.round(milliseconds / 60_000)
  if (minutes % 1440 === 0) return `${minutes / 1440} d`
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${minutes} min`
}
