import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { grouped } from '../../../../../src/base/collections.ts'
import type { Apis } from '../api/apis.ts'
import { isOfNothing } from '../events/network-event.ts'
import { useAnswer, useSettled } from './use-answer.ts'

interface Props<T> {
  readonly label: string
  readonly placeholder?: string
  /** The text of the field until the user types. */
  readonly text?: string | undefined
  /** Finds the choices for a text; called once the user pauses. */
  readonly search: (text: string, signal: AbortSignal) => Promise<Options<T>>
  readonly keyOf: (option: T) => string
  /** The most that the search finds of each of these. The field says when there may be more. */
  readonly most: number
  readonly kindOf: (option: T) => string
  readonly show: (option: T) => ComponentChildren
  /** Answers the text of the field afterwards. */
  readonly onPick: (option: T) => string
  /** Handles Enter where nothing is found; answers the text that stands in the field afterwards. */
  readonly onText?: (text: string) => string
}

/**
 * A field that offers matches while the user types: arrow keys choose, Enter picks, Escape closes. Options belong to the text in the field.
 * Enter waits for them if they have not come yet.
 */
export function Combobox<T>({
  label,
  placeholder,
  text = '',
  search,
  keyOf,
  most,
  kindOf,
  show,
  onPick,
  onText,
}: Props<T>) {
  const id = useId()
  const [typed, setTyped] = useState(text)
  /** The text of the field, which may be newer than the last drawing. */
  const newest = useRef(text)
  const put = (next: string) => {
    newest.current = next
    setTyped(next)
  }
  // A new text from outside is taken over in place: a field that is made anew would lose the focus, and its neighbours too.
  // The first drawing takes nothing over: its effect may come after the first letters.
  const given = useRef(text)
  useEffect(() => {
    if (given.current !== text) put(text)
    given.current = text
  }, [text])
  const [isOpen, setOpen] = useState(false)
  const [at, setAt] = useState(0)
  const [isPicked, setPicked] = useState(false)
  const settled = useSettled(typed)
  // A user who pressed Enter and went on to the next field still wants the choice.
  const isAsking = (isOpen || isPicked) && settled.trim() !== ''
  const answer = useAnswer(
    (signal) => (isAsking ? search(settled.trim(), signal) : undefined),
    [settled, isAsking],
    isOfNothing,
  )
  const isAnswered = isAsking && settled === typed && (answer.data !== undefined || answer.problem !== undefined)
  const found = isAnswered ? (answer.data?.options ?? []) : []
  const isPartial = isAnswered && answer.data?.isPartial === true
  const chosen = found[Math.min(at, found.length - 1)]

  const pick = (option: T) => {
    const next = onPick(option)
    // Letters that were typed right behind Enter stay.
    if (newest.current !== typed) return
    put(next)
    setOpen(false)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') setOpen(false)
    if (event.key === 'Enter') {
      event.preventDefault()
      setOpen(true)
      // The value of the field, which may be newer than the last drawing.
      setPicked(event.target instanceof HTMLInputElement && event.target.value.trim() !== '')
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined || found.length === 0) return
    event.preventDefault()
    setAt((Math.min(at, found.length - 1) + step + found.length) % found.length)
  }
  useEffect(() => {
    if (!isPicked || !isAnswered) return
    setPicked(false)
    if (chosen !== undefined) pick(chosen)
    else if (onText && !answer.problem) put(onText(typed.trim()))
  }, [isPicked, isAnswered])
  const onInput = (value: string) => {
    setPicked(false)
    put(value)
    setOpen(true)
    setAt(0)
  }
  const isCut = [...grouped(found, kindOf).values()].some(({ length }) => length >= most)
  const isNothingFound = isOpen && isAnswered && found.length === 0
  return (
    <div class="finder">
      <label>
        {label}
        <input
          role="combobox"
          placeholder={placeholder}
          autocomplete="off"
          spellcheck={false}
          value={typed}
          aria-expanded={isOpen && found.length > 0}
          aria-controls={id}
          aria-autocomplete="list"
          aria-activedescendant={chosen === undefined ? undefined : `${id}-${found.indexOf(chosen)}`}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
          onKeyDown={onKeyDown}
          onFocus={() => setOpen(true)}
          onBlur={() => setOpen(false)}
        />
      </label>
      <div class="finder-list" hidden={!isOpen || found.length === 0}>
        <div role="listbox" id={id} aria-label="Found" hidden={!isOpen || found.length === 0}>
          {found.map((option, place) => (
            // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus
            <div
              key={keyOf(option)}
              id={`${id}-${place}`}
              role="option"
              aria-selected={option === chosen}
              class="finder-option"
              onPointerDown={(event) => {
                event.preventDefault()
                pick(option)
              }}
            >
              {show(option)}
            </div>
          ))}
        </div>
        {isPartial && !isCut && (
          <p class="finder-more" role="status">
            {NOT_LOOKED_AT}
          </p>
        )}
        {isCut && (
          <p class="finder-more" role="status">
            These are the first {most} of a kind: type more to find others.
          </p>
        )}
      </div>
      {isNothingFound && (
        <p class="finder-none" role="status">
          {answer.problem ?? (onText ? 'Nothing has it yet; Enter takes it.' : 'Nothing is called so.')}
          {isPartial && ` ${NOT_LOOKED_AT}`}
        </p>
      )}
    </div>
  )
}

const NOT_LOOKED_AT = 'There are too many names to look at all of them: type how the name begins.'

/** The options for a text, and whether some names were not looked at because there are too many. */
export interface Options<T> {
  readonly options: readonly T[]
  readonly isPartial: boolean
}

/** An entity that is found by a part of its name. */
export interface Found {
  readonly kind: string
  readonly id: string
  readonly name: string
  readonly roleAttributes: readonly string[]
}

/** As many of each kind are found. */
export const MOST_OF_A_KIND = 8

/** Entities of some kinds (all kinds unless given) whose name holds a text. Names that begin with it come first. */
export async function searchNames(
  { portcullis }: Apis,
  text: string,
  kinds: readonly string[],
  signal: AbortSignal,
): Promise<Options<Found>> {
  if (text.trim() === '') return { options: [], isPartial: false }
  const query = { q: text.trim(), limit: String(MOST_OF_A_KIND) }
  const { data } = await portcullis.call('GET /search', { query, signal })
  const { entities, isPartial } = data
  return { options: kinds.length === 0 ? entities : entities.filter(({ kind }) => kinds.includes(kind)), isPartial }
}
