import { useState } from 'preact/hooks'
import type { Apis } from '../api/apis.ts'
import { problemText } from '../api/problem-text.ts'
import type { Found } from '../api/search.ts'
import { Finder } from '../parts/finder.tsx'
import { EMPTY_POLICY } from './change.ts'
import { put } from './draft.ts'
import { readAttributes, readPolicy } from './read-entity.ts'

const KINDS = ['identities', 'services', 'service-policies']

/** Where a change begins: with an entity that is there, or a new policy. */
export function NewChange({ apis }: { apis: Apis }) {
  const [problem, setProblem] = useState<string>()
  const [round, setRound] = useState(0)
  const begin = async ({ kind, id, name }: Found) => {
    setProblem(undefined)
    setRound(round + 1)
    try {
      if (kind === 'service-policies') put({ kind, action: 'update', id, name, policy: await readPolicy(apis, id) })
      else put(await readAttributes(apis, kind === 'services' ? 'services' : 'identities', id))
    } catch (error) {
      setProblem(problemText(error))
    }
  }
  const beginPolicy = () =>
    put({ kind: 'service-policies', action: 'create', number: Date.now(), policy: EMPTY_POLICY })
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
