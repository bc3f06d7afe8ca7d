import { useState } from 'preact/hooks'
import { place } from '../navigation/place.ts'
import { ActionProblem, useAction } from '../parts/action.tsx'
import { Card } from '../parts/card.tsx'
import { attributeChip, type Chip } from '../parts/chip.ts'
import { ChipsField } from '../parts/chips-field.tsx'
import type { Option } from '../parts/combobox.tsx'
import { Finder } from '../parts/finder.tsx'
import { useApis } from '../session/session.ts'
import { EMPTY_POLICY, newPolicy } from './change.ts'
import { put } from './draft.ts'
import { readChange, readGroupChange } from './read-entity.ts'

const KINDS = ['identities', 'services', 'service-policies']

/** Where a change begins: with an entity that is there, or a new policy. */
export function NewChange() {
  const apis = useApis()
  const action = useAction()
  const [round, setRound] = useState(0)
  const begin = ({ kind, id, name }: Option) => {
    setRound(round + 1)
    return action.run(`${name} may be changed.`, async () => put(await readChange(apis, kind, id)))
  }
  const [holders, setHolders] = useState<readonly Chip[]>(() => {
    const of = place.value.about.get('group')
    return of === null ? [] : [attributeChip(of)]
  })
  const giveGroup = async (chips: readonly Chip[]) => {
    const [group, given] = [holders[0]?.value, chips[0]?.value]
    if (group === undefined || given === undefined) return
    await action.run(`#${given} is tried.`, async () => put(await readGroupChange(apis, group, given)))
  }
  const beginPolicy = () => put(newPolicy(EMPTY_POLICY))
  return (
    <Card title="Change something" class="new-change">
      <div class="row">
        <Finder
          key={round}
          label="An identity, a service or a service policy"
          kinds={KINDS}
          onPick={(found) => void begin(found)}
        />
        <button type="button" onClick={beginPolicy}>
          New policy
        </button>
      </div>
      <h3>Give a role attribute to a whole group</h3>
      <div class="row">
        <ChipsField
          label="Everybody who has"
          chips={holders}
          kind="identities"
          of="attributes"
          onChange={(chips) => setHolders(chips.slice(-1))}
        />
        {holders.length > 0 && (
          <ChipsField
            label="would be given"
            chips={[]}
            kind="identities"
            of="attributes"
            onChange={(chips) => void giveGroup(chips)}
          />
        )}
      </div>
      <ActionProblem of={action.problem} />
    </Card>
  )
}
