import { useState } from 'preact/hooks'
import { type AnswerOf, type PortcullisApi, takingBack } from '../../../../../src/client/index.ts'
import type { Apis } from '../api/apis.ts'
import { distinct, foldPairs, type Pair } from '../parts/fold-pairs.ts'
import { Loaded } from '../parts/loaded.tsx'
import { Names } from '../parts/names.tsx'
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
      const body = { changes: [...undone], limit: 500 }
      return (await apis.portcullis.call('POST /simulate', { body, signal })).data
    },
    [apis, JSON.stringify(undone)],
  )
  return (
    <Loaded answer={answer} isEmpty={({ pairs }) => pairs.length === 0} empty="Nobody.">
      {({ pairs, counts }) => (
        <>
          {(['gained', 'lost'] as const).map((change) => {
            const all = counts ? counts.dial[change] + counts.bind[change] : 0
            const of = pairs.filter((pair) => pair.change === change)
            return all > 0 && <p key={change}>{sumText(of, all, change)}</p>
          })}
          <ul class="plain">
            {foldPairs(pairs).map(({ key, identities, services, type, change }) => (
              <li key={key}>
                <span class={change === 'gained' ? 'loss' : 'gain'}>
                  {change === 'gained' ? '− ' : '+ '}
                  {type}
                </span>{' '}
                <Names kind="identities" of={identities} /> → <Names kind="services" of={services} />
              </li>
            ))}
          </ul>
        </>
      )}
    </Loaded>
  )
}

/** The sum of lost or gained access: `11 identities lost 96 services`; with the number of pairs where not all of them are known. */
function sumText(pairs: readonly Pair[], all: number, change: Pair['change']): string {
  const verb = change === 'gained' ? 'lost' : 'gained'
  if (pairs.length < all) return `${numberText(all)} accesses were ${verb}; these are some of them.`
  const [people, things] = [distinct(pairs, 'identity').length, distinct(pairs, 'service').length]
  return `${numberText(people)} ${people === 1 ? 'identity' : 'identities'} ${verb} ${numberText(things)} ${things === 1 ? 'service' : 'services'}.`
}
