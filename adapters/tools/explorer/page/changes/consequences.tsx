import { useState } from 'preact/hooks'
import { type AnswerOf, type PortcullisApi, takingBack } from '../../../../../src/client/index.ts'
import { Names } from '../parts/entity-link.tsx'
import { distinct, foldPairs, type Pair } from '../parts/fold.ts'
import { Loaded } from '../parts/loaded.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { countedName, numberText } from '../parts/words.ts'
import { useApis } from '../session/session.ts'

/** A record of the audit trail. */
export type AuditEntry = AnswerOf<PortcullisApi['GET /audit']>['data']['entries'][number]

/** A change that a simulation tries. */
export type AccessChange = NonNullable<ReturnType<typeof takingBack>>

/** The access that changes gave and took: the reverse of what undoing them would do in the network as it is now. */
export function Consequences({ entries }: { entries: readonly AuditEntry[] }) {
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
      {isOpen && <Difference changes={undone} isReversed />}
    </>
  )
}

interface DifferenceProps {
  readonly changes: readonly AccessChange[]
  /** Whether the changes take back what was done: what they would give was lost. */
  readonly isReversed?: boolean
}

/** The access that changes give and take, in the network as it is now. */
export function Difference({ changes, isReversed = false }: DifferenceProps) {
  const apis = useApis()
  const answer = useAnswer(
    async (signal) => {
      const body = { changes: [...changes], limit: 500 }
      return (await apis.portcullis.call('POST /simulate', { body, signal })).data
    },
    [apis, JSON.stringify(changes)],
  )
  const isLost = (change: Pair['change']) => (change === 'lost') !== isReversed
  return (
    <Loaded answer={answer} isEmpty={({ pairs }) => pairs.length === 0} empty="Nobody.">
      {({ pairs, counts }) => (
        <>
          {(['gained', 'lost'] as const).map((change) => {
            const all = counts ? counts.dial[change] + counts.bind[change] : 0
            const of = pairs.filter((pair) => pair.change === change)
            return all > 0 && <p key={change}>{sumText(of, all, verbOf(isLost(change), isReversed))}</p>
          })}
          <ul class="plain">
            {foldPairs(pairs).map(({ key, identities, services, type, change }) => (
              <li key={key}>
                <span class={isLost(change) ? 'loss' : 'gain'}>
                  {isLost(change) ? '− ' : '+ '}
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

function verbOf(isLost: boolean, isPast: boolean): Verb {
  if (isPast) return isLost ? 'lost' : 'gained'
  return isLost ? 'would lose' : 'would gain'
}

type Verb = 'lost' | 'gained' | 'would lose' | 'would gain'

/** The sum of lost or gained access: `11 identities lost 96 services`; with the number of pairs where not all of them are known. */
function sumText(pairs: readonly Pair[], all: number, verb: Verb): string {
  const [people, things] = [distinct(pairs, 'identity').length, distinct(pairs, 'service').length]
  const whole = `${countedName('identities', people)} ${verb} ${countedName('services', things)}`
  return pairs.length < all ? `Of ${numberText(all)} accesses these are some: ${whole}.` : `${whole}.`
}
