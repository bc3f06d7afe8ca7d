import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { grouped } from '../../../../../src/base/collections.ts'
import { isOfNothing } from '../events/network-event.ts'
import { Name } from './entity-link.tsx'
import { useAnswer, useSettled } from './use-answer.ts'
import { kindName } from './words.ts'

/** Something that a search finds: an entity, a role attribute, or anything else that has a name. */
export interface Option {
  readonly kind: string
  readonly id: string
  readonly name: string
  /** The words beside the name; those of the kind unless given. */
  readonly words?: string | undefined
  /** The options of a group are counted together; the group is its kind unless given. */
  readonly group?: string
}

/** The options for a text, and whether some names were not looked at because there are too many. */
export interface Options<T> {
  readonly options: readonly T[]
  readonly isPartial: boolean
}

/** As many of each kind are found. */
export const MOST_OF_A_KIND = 8

interface Props<T> {
  readonly label: string
  readonly placeholder?: string
  /** The text of the field until the user types. */
  readonly text?: string | undefined
  /** Finds the choices for a text; called once the user pauses. */
  readonly search: (text: string, signal: AbortSignal) => Promise<Options<T>>
  /** The most that the search finds of a kind. The field says when there may be more. */
  readonly most?: number
  /** Answers the text of the field afterwards. */
  readonly onPick: (option: T) => string
  /** Handles Enter where nothing is found; answers the text that stands in the field afterwards. */
  readonly onText?: (text: string) => string
}

/**
 * A field that offers matches while the user types: arrow keys choose, Enter picks, Escape closes. Options belong to the text in the field.
 * Enter waits for them if they have not come yet.
 */
export function Combobox<T extends Option>(props: Props<T>) {
  const { label, placeholder, text = '', search, most = MOST_OF_A_KIND, onPick, onText } = props
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
  const isCut = [...grouped(found, ({ kind, group = kind }) => group).values()].some(({ length }) => length >= most)
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
              key={`${option.kind} ${option.id}`}
              id={`${id}-${place}`}
              role="option"
              aria-selected={option === chosen}
              class="finder-option"
              onPointerDown={(event) => {
                event.preventDefault()
                pick(option)
              }}
            >
              <span class="finder-name">
                <Name of={option.name} />
              </span>
              <span class={`kind kind-${option.kind}`}>{option.words ?? kindName(option.kind)}</span>
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
