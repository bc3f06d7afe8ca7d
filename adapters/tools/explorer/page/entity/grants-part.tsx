import { useState } from 'preact/hooks'
import { HOUR_MS } from '../../../../../src/base/time.ts'
import type { AnswerOf, ManagementApi } from '../../../../../src/client/index.ts'
import { ActionButton, ActionProblem, useAction } from '../parts/action.tsx'
import { Card } from '../parts/card.tsx'
import { AttributeLink, Name } from '../parts/entity-link.tsx'
import { TextInput } from '../parts/fields.tsx'
import { untilText, wholeText } from '../parts/words.ts'
import { may, useApis } from '../session/session.ts'

type Identity = AnswerOf<ManagementApi['GET /identities/{id}']>['data']
type Grant = NonNullable<Identity['attributeGrants']>[number]

/** Role attributes that an identity has beside the stored ones: from the directory, from its login, and for some time. */
export function GrantsPart({ identity }: { readonly identity: Identity }) {
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
    <Card title="Role attributes for some time">
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
          <GivenAttribute key={grant.id} identityId={identity.id} grant={grant} mayEnd={mayGive} />
        ))}
      </ul>
      {mayGive && <GiveForm identityId={identity.id} />}
    </Card>
  )
}

function GivenAttribute({ identityId, grant, mayEnd }: { identityId: string; grant: Grant; mayEnd: boolean }) {
  const { portcullis } = useApis()
  const { id: grantId, attribute, startsAt, until, givenBy, reason, phase } = grant
  const params = { id: identityId, grantId }
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
        <ActionButton
          label="End now"
          question="Its access by it ends at once."
          done={`The role attribute ${attribute} is ended.`}
          act={() => portcullis.call('DELETE /identities/{id}/attribute-grants/{grantId}', { params })}
        />
      )}
    </li>
  )
}

const LONGEST_HOURS = 24 * 365

function GiveForm({ identityId }: { identityId: string }) {
  const { portcullis } = useApis()
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
    <form class="fields two" onSubmit={give}>
      <TextInput label="Role attribute" maxLength={1024} value={attribute} onChange={setAttribute} />
      <TextInput
        label="Hours"
        type="number"
        min="0.1"
        max={LONGEST_HOURS}
        step="any"
        value={hours}
        onChange={setHours}
      />
      <TextInput label="Reason" maxLength={1024} value={reason} onChange={setReason} />
      <button type="submit" disabled={action.isBusy || !isComplete}>
        Give for these hours
      </button>
      <ActionProblem of={action.problem} />
    </form>
  )
}
