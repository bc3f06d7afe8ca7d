/** The buttons between the pages of a list: `cursors` are those of the pages before this one, the last of which began it. */
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
