import { Problem } from '../parts/loaded.tsx'
import { useApis } from '../session/session.ts'
import { Circumstances } from './circumstances.tsx'
import { draft } from './draft.ts'
import { DraftList } from './draft-list.tsx'
import { NewChange } from './new-change.tsx'
import { Outcome } from './outcome.tsx'
import { useSuggested } from './use-suggested.ts'

/** Tries changes of the network and of circumstances before anything is written. */
export function WhatIfView() {
  const apis = useApis()
  const failure = useSuggested(apis)
  return (
    <section class="what-if">
      <div class="bar">
        <h1>What if</h1>
        <p class="muted">Nothing is written until you apply it.</p>
      </div>
      {failure && <Problem of={failure} />}
      <div class="what-if-body">
        <div class="stack">
          <NewChange />
          <DraftList changes={draft.value} />
        </div>
        <div class="stack">
          <Outcome changes={draft.value} />
          <Circumstances changes={draft.value} />
        </div>
      </div>
    </section>
  )
}
