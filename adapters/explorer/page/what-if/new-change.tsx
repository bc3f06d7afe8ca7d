import { useState } from 'preact/hooks'
import type { Apis } from '../api/apis.ts'
import { problemText } from '../api/problem-text.ts'
import type { Found } from '../api/search.ts'
import { Finder } from '../parts/finder.tsx'
import { EMPTY_POLICY, newPolicy } from './change.ts'
import { put } from './draft.ts'
import { readChange } from './read-entity.ts'

const KINDS = ['identities', 'services', 'service-policies']

/** Where a change begins: with an entity that is there, or a new policy. */
export function NewChange({ apis }: { apis: Apis }) {
  const [problem, setProblem] = useState<string>()
  const [round, setRound] = useState(0)
  const begin = async ({ kind, id }: Found) => {
    setProblem(undefined)
    setRound(round + 1)
    try {
      put(await readChange(apis, kind, id))
    } catch (error) {
      setProblem(problemText(error))
    }
  }
  const beginPolicy = () => put(newPolicy(EMPTY_POLICY))
  return (
    <section class="card new-change">
      <h2>Change something</h2>
      <div class="row">
        <Finder
          key={round}
          apis={apis}
          label="An identity, a service or a service policy"
          kinds={KINDS}
          onPick={(found) => void begin(found)}
        />
        <button type="button" onClick={beginPolicy}>
          New policy
        </button>
      </div>
      {problem && <p class="problem">{problem}</p>}
    </section>
  )
}
