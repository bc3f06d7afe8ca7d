import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Apis } from '../api/apis.ts'
import { ActionProblem } from '../parts/action-problem.tsx'
import { attributeChip } from '../parts/chip.ts'
import { ChipsField } from '../parts/chips-field.tsx'
import { useAction } from '../parts/use-action.ts'

/** The members of every entity. */
export interface Named {
  readonly name: string
  readonly roleAttributes: string[]
}

interface Props {
  readonly apis: Apis
  readonly kind: string
  readonly children: ComponentChildren
  /** Creates it and answers its id. */
  readonly create: (named: Named) => Promise<string>
  readonly onCreated: (id: string) => void
}

/** Asks for a name, role attributes, and the fields of `children`. */
export function NewEntityForm({ apis, kind, children, create, onCreated }: Props) {
  const [name, setName] = useState('')
  const [roleAttributes, setRoleAttributes] = useState<readonly string[]>([])
  const action = useAction()
  const onSubmit = async (event: SubmitEvent) => {
    event.preventDefault()
    let id = ''
    const isDone = await action.run('Created.', async () => {
      id = await create({ name: name.trim(), roleAttributes: [...roleAttributes] })
    })
    if (isDone) onCreated(id)
  }
  return (
    <form class="fields" onSubmit={onSubmit}>
      <label>
        Name
        <input
          name="name"
          required
          autocomplete="off"
          value={name}
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
      </label>
      {children}
      <ChipsField
        apis={apis}
        label="Role attributes"
        chips={roleAttributes.map(attributeChip)}
        kind={kind}
        of="attributes"
        onChange={(chips) => setRoleAttributes(chips.map(({ value }) => value))}
      />
      <ActionProblem of={action.problem} />
      <button type="submit" class="primary" disabled={action.isBusy}>
        Create
      </button>
    </form>
  )
}
