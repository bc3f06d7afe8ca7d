import { useState } from 'preact/hooks'
import type { Row } from '../api/read-json.ts'
import { isOfNothing } from '../events/network-event.ts'
import { readForms } from '../forms/form-schemas.ts'
import { ActionProblem, useAction } from '../parts/action.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { numberText } from '../parts/words.ts'
import { may, useApis } from '../session/session.ts'
import type { Target } from './bulk.ts'
import { ACTIONS, type BulkAction } from './bulk-actions.ts'
import { BulkDialog } from './bulk-dialog.tsx'
import { readAllRows, targetOf } from './read-rows.ts'
import type { TableProps } from './table-place.ts'

/** The most entities that are acted on together. */
const MOST = 10_000

interface Props extends TableProps {
  readonly onTargets: (targets: ReadonlyMap<string, Target>) => void
}

/** The actions on the chosen entities together that the user may take. */
export function BulkBar({ kind, shown, targets, total, onTargets }: Props) {
  const apis = useApis()
  const isAny = targets.size > 0
  const forms = useAnswer(() => (isAny ? readForms() : undefined), [isAny], isOfNothing)
  const [open, setOpen] = useState<BulkAction>()
  const reading = useAction()
  const { permission = '', isDeleted = false, change } = forms.data?.[kind] ?? {}
  if (!isAny) return null
  const actions = ACTIONS.filter(({ member }) => {
    if (member === undefined) return isDeleted && may(permission, 'delete')
    // Identities are disabled by an operation of their own.
    const isThere = change?.properties?.[member] !== undefined || (member === 'disabled' && kind === 'identities')
    return isThere && may(permission, 'update')
  })
  const chooseAll = () => {
    const all = new Map(targets)
    const onRows = (rows: readonly Row[]) => {
      for (const row of rows) all.set(row.id, targetOf(row))
    }
    void reading.run('All are selected.', async () => {
      await readAllRows(apis, { kind, shown: { ...shown, columns: [] } }, MOST, onRows)
      onTargets(all)
    })
  }
  return (
    <section class="bulk" aria-label="Selected">
      <strong>{numberText(targets.size)} selected</strong>
      <button type="button" class="quiet" onClick={() => onTargets(new Map())}>
        Select none
      </button>
      {total > targets.size && (
        <button type="button" class="quiet" disabled={reading.isBusy} onClick={chooseAll}>
          {reading.isBusy
            ? 'Reading…'
            : `Select ${total > MOST ? `the first ${numberText(MOST)}` : `all ${numberText(total)}`}`}
        </button>
      )}
      {actions.map((action) => (
        <button
          key={action.label}
          type="button"
          class={action.isHarm ? 'danger' : undefined}
          onClick={() => setOpen(action)}
        >
          {action.label}…
        </button>
      ))}
      <ActionProblem of={reading.problem} />
      {open && (
        <BulkDialog
          kind={kind}
          action={open}
          targets={[...targets.values()]}
          onClose={(left) => {
            setOpen(undefined)
            onTargets(new Map(left.map((target) => [target.id, target])))
          }}
        />
      )}
    </section>
  )
}
