import { useState } from 'preact/hooks'
import { Pager } from './pager.tsx'
import { useAnswer } from './use-answer.ts'
import { useSettled } from './use-settled.ts'

/** The wanted part of a list: by a part of the name, and from a page on. */
interface Wanted {
  readonly text: string
  readonly cursor?: string
}

/** A list that is found by a part of the name and read page by page: its answer, the field above it, and the buttons below it. */
export function useFound<T extends { readonly nextCursor: string | null }>(
  label: string,
  read: (wanted: Wanted, signal: AbortSignal) => Promise<{ readonly data: T }>,
  reasons: readonly unknown[],
) {
  const [text, setText] = useState('')
  const [cursors, setCursors] = useState<readonly string[]>([])
  const settled = useSettled(text)
  const cursor = cursors.at(-1)
  const answer = useAnswer(
    async (signal) => (await read({ text: settled, ...(cursor !== undefined && { cursor }) }, signal)).data,
    [...reasons, settled, cursor],
  )
  const field = (
    <input
      type="search"
      aria-label={label}
      placeholder={label}
      value={text}
      onInput={({ currentTarget }) => {
        setText(currentTarget.value)
        setCursors([])
      }}
    />
  )
  const pager = <Pager cursors={cursors} nextCursor={answer.data?.nextCursor ?? null} onTurn={setCursors} />
  return { answer, field, pager }
}
