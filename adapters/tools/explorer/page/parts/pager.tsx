import { numberText } from './number-text.ts'

interface OffsetProps {
  readonly offset: number
  readonly size: number
  readonly total: number
  readonly onTurn: (offset: number) => void
}

/** The buttons between the pages of a counted list; nothing for a single page. */
export function OffsetPager({ offset, size, total, onTurn }: OffsetProps) {
  if (total <= size) return null
  return (
    <p class="pager">
      <button type="button" disabled={offset === 0} onClick={() => onTurn(Math.max(0, offset - size))}>
        Back
      </button>
      <span class="muted">
        {numberText(offset + 1)}–{numberText(Math.min(offset + size, total))} of {numberText(total)}
      </span>
      <button type="button" disabled={offset + size >= total} onClick={() => onTurn(offset + size)}>
        Next
      </button>
    </p>
  )
}

/** The buttons between the pages of a list. `cursors` are the cursors of the pages up to this page; the last cursor began this page. */
export function Pager({
  cursors,
  nextCursor,
  onTurn,
}: {
  cursors: readonly string[]
  nextCursor: string | null
  onTurn: (cursors: readonly string[]) => void
}) {
  return (
    <p class="pager">
      {cursors.length > 0 && (
        <button type="button" onClick={() => onTurn(cursors.slice(0, -1))}>
          Back
        </button>
      )}
      {nextCursor !== null && (
        <button type="button" onClick={() => onTurn([...cursors, nextCursor])}>
          Next
        </button>
      )}
    </p>
  )
}
