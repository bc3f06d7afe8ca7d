import { useState } from 'preact/hooks'
import type { AnswerOf, ManagementApi } from '../../../../../src/client/index.ts'
import type { Apis } from '../api/apis.ts'
import { ActionProblem } from '../parts/action-problem.tsx'
import { AttributeLink } from '../parts/attribute-link.tsx'
import { ConfirmedButton } from '../parts/confirmed-button.tsx'
import { Name } from '../parts/name.tsx'
import { untilText, wholeText } from '../parts/time-text.ts'
import { useAction } from '../parts/use-action.ts'
import { may } from '../session/session.ts'
import { Part } from './entity-page.tsx'

type Identity = AnswerOf<ManagementApi['GET /identities/{id}']>['data']
type Grant = NonNullable<Identity['attributeGrants']>[number]

interface Props {
  readonly apis: Apis
  readonly identity: Identity
}

/** Role attributes that an identity has beside the stored ones: from the directory, from its login, and for some time. */
export function GrantsPart({ apis, identity }: Props) {
  const { directoryAttributes, claimAttributes, attributeGrants } = identity
  const mayGive = may('identity', 'update')
  const others = [
    ['From the directory', directoryAttributes ?? []],
    ['By its login', claimAttributes ?? []],
  ] as const
  const grants = attributeGrants ?? []
  const isEmpty = grants.length === 0 && others.every(([, attributes]) => attributes.length === 0)
  if (isEmpty && !mayGive) return null
  return (
    <Part title="Role attributes for some time">
      {isEmpty && <p class="muted">None.</p>}
      <ul class="plain">
        {others
          .filter(([, attributes]) => attributes.length > 0)
          .map(([source, attributes]) => (
            <li key={source}>
              {source}:{' '}
              {attributes.map((attribute) => (
                <AttributeLink key={attribute} kind="identities" attribute={attribute} />
              ))}
            </li>
          ))}
        {grants.map((grant) => (
          <GivenAttribute key={grant.id} apis={apis} identityId={identity.id} grant={grant} mayEnd={mayGive} />
        ))}
      </ul>
      {mayGive && <GiveForm apis={apis} identityId={identity.id} />}
    </Part>
  )
}

interface GivenProps {
  readonly apis: Apis
  readonly identityId: string
  readonly grant: Grant
  readonly mayEnd: boolean
}

function GivenAttribute({ apis: { portcullis }, identityId, grant, mayEnd }: GivenProps) {
  const action = useAction()
  const { id: grantId, attribute, startsAt, until, givenBy, reason, phase } = grant
  const end = () =>
    action.run(`The role attribute ${attribute} is ended.`, () =>
      portcullis.call('DELETE /identities/{id}/attribute-grants/{grantId}', { params: { id: identityId, grantId } }),
    )
  return (
    <li>
      <AttributeLink kind="identities" attribute={attribute} />{' '}
      {phase === 'coming' && startsAt !== null && <>from {wholeText(startsAt)} </>}
      until <time dateTime={until}>{untilText(until)}</time>
      {givenBy !== null && (
        <>
          , given by <Name of={givenBy} />
        </>
      )}
      {reason !== null && (
        <>
          , because: <Name of={reason} />
        </>
      )}{' '}
      {mayEnd && (
        <ConfirmedButton
          label="End now"
          question="Its access by it ends at once."
          disabled={action.isBusy}
          onConfirm={end}
        />
      )}
      <ActionProblem of={action.problem} />
    </li>
  )
}

const LONGEST_HOURS = 24 * 365
const HOUR_MS = 3_600_000

function GiveForm({ apis: { portcullis }, identityId }: { apis: Apis; identityId: string }) {
  const [attribute, setAttribute] = useState('')
  const [hours, setHours] = useState('2')
  const [reason, setReason] = useState('')
  const action = useAction()
  const length = Number(hours)
  const isComplete = attribute !== '' && length > 0 && length <= LONGEST_HOURS
  const give = async (event: Event) => {
    event.preventDefault()
    const until = new Date(Date.now() + length * HOUR_MS).toISOString()
    const body = { attribute, until, ...(reason !== '' && { reason }) }
    const isGiven = await action.run(`The role attribute ${attribute} is given.`, () =>
      portcullis.call('POST /identities/{id}/attribute-grants', { params: { id: identityId }, body }),
    )
    if (!isGiven) return
    setAttribute('')
    setReason('')
  }
  return (
    <form class="small-form" onSubmit={give}>
      <label>
        Role attribute
        <input maxLength={1024} value={attribute} onInput={({ currentTarget }) => setAttribute(currentTarget.value)} />
      </label>
      <label>
        Hours
        <input
          type="number"
          min="0.1"
          max={LONGEST_HOURS}
          step="any"
          value={hours}
          onInput={({ currentTarget }) => setHours(currentTarget.value)}
        />
      </label>
      <label>
        Reason
        <input maxLength={1024} value={reason} onInput={({ currentTarget }) => setReason(currentTarget.value)} />
      </label>
      <button type="submit" disabled={action.isBusy || !isComplete}>
        Give for these hours
      </button>
      <ActionProblem of={action.problem} />
    </form>
  )
}
