import { useState } from 'preact/hooks'
import { type AnswerOf, type PortcullisApi, takingBack } from '../../../../../src/client/index.ts'
import type { Apis } from '../api/apis.ts'
import { EntityLink } from '../parts/entity-link.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { numberText } from '../parts/number-text.ts'
import { useAnswer } from '../parts/use-answer.ts'

/** A record of the audit trail. */
export type AuditEntry = AnswerOf<PortcullisApi['GET /audit']>['data']['entries'][number]

type Change = NonNullable<ReturnType<typeof takingBack>>

/** The access that changes gave and took: the reverse of what undoing them would do in the network as it is now. */
export function Consequences({ apis, entries }: { apis: Apis; entries: readonly AuditEntry[] }) {
  const [isOpen, setOpen] = useState(false)
  // The oldest of several changes of an entity has its earlier state.
  const oldest = new Map(entries.map((entry) => [entry.entity?.id, entry]))
  const undone = [...oldest.values()].flatMap((entry) => takingBack(entry) ?? [])
  if (undone.length === 0) return null
  return (
    <>
      <button type="button" class="link" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {undone.length === 1 ? 'who lost or gained access by it' : 'who lost or gained access by all of it'}
      </button>
      {isOpen && <Difference apis={apis} undone={undone} />}
    </>
  )
}

function Difference({ apis, undone }: { apis: Apis; undone: readonly Change[] }) {
  const answer = useAnswer(
    async (signal) => {
      const body = { changes: [...undone], limit: 50 }
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
