import { useState } from 'preact/hooks'
import { EntityLink } from './entity-link.tsx'
import { Joined } from './joined.tsx'
import { numberText } from './number-text.ts'

const MOST_NAMED = 4

interface Props {
  /** The kind of entities that do not name theirs. */
  readonly kind?: string
  readonly of: readonly { readonly kind?: string; readonly id: string; readonly name: string }[]
}

/** Names that lead to their pages: a few of them, and the number of the others, which opens. */
export function Names({ kind = '', of }: Props) {
  const [isOpen, setOpen] = useState(false)
  const more = of.length - MOST_NAMED
  const shown = isOpen || more <= 1 ? of : of.slice(0, MOST_NAMED)
  return (
    <>
      <Joined of={shown}>{(one) => <EntityLink kind={kind} {...one} />}</Joined>
      {shown.length < of.length && (
        <>
          {' '}
          <button type="button" class="link" onClick={() => setOpen(true)}>
            and {numberText(more)} more
          </button>
        </>
      )}
    </>
  )
}
