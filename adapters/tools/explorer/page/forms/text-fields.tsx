import { useEffect, useId, useState } from 'preact/hooks'
import { hidesText, visible } from '../../../../../src/base/text.ts'
import { instantOf, localText, plainly, wholeWord, wordsOf, zoneText } from '../parts/words.ts'
import type { FormSchema, Values } from './form-schemas.ts'

export interface FieldProps {
  readonly name: string
  readonly schema: FormSchema
  /** The schema whose definitions the field refers to. */
  readonly root: FormSchema
  readonly value: unknown
  readonly isRequired: boolean
  /** The kind of the entity. */
  readonly kind: string
  /** The members of the entity, which name what role lists select. */
  readonly entity: Values
  readonly onChange: (value: unknown) => void
  readonly depth?: number
}

/** Texts that may be longer have several lines. */
const LONG_TEXT = 65_536

/** A field for a text, a number, or one of some texts. */
export function TextField({
  name,
  schema,
  value,
  isRequired,
  isText,
  onChange,
}: FieldProps & { readonly isText: boolean }) {
  const id = useId()
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  const common = { id, name, required: isRequired, value: text }
  const onText = ({ currentTarget }: { currentTarget: { value: string } }) => onChange(currentTarget.value)
  const isLong = (schema.maxLength ?? 0) >= LONG_TEXT
  return (
    <div class="field">
      <label for={id}>{wordsOf(name)}</label>
      {schema.enum && (
        <select {...common} onChange={onText}>
          {!isRequired && <option value="" />}
          {schema.enum
            .filter((one) => typeof one === 'string')
            .map((one) => (
              <option key={one} value={one}>
                {wholeWord(one)}
              </option>
            ))}
        </select>
      )}
      {!schema.enum && isText && isLong && <textarea {...common} class="code" rows={6} onInput={onText} />}
      {!schema.enum && isText && !isLong && name !== 'password' && (
        <input {...common} type="text" autocomplete="off" onInput={onText} />
      )}
      {name === 'password' && <input {...common} type="password" autocomplete="new-password" onInput={onText} />}
      {!isText && (
        <input
          {...common}
          type="number"
          min={schema.minimum}
          max={schema.maximum}
          onInput={({ currentTarget: { value: typed } }) => onChange(typed === '' ? undefined : Number(typed))}
        />
      )}
      <Hint of={schema} />
      {isText && hidesText(text) && (
        <p class="hint doubt">With its invisible characters written out: {visible(text)}</p>
      )}
    </div>
  )
}

/** An instant in the time of the reader. The API has it in RFC 3339; an emptied field takes it away. */
export function InstantField({ name, schema, value, isRequired, onChange }: FieldProps) {
  const id = useId()
  const none = [schema.type].flat().includes('null') ? null : undefined
  const [text, setText] = useTyped(value, localText, instantOf)
  return (
    <div class="field">
      <label for={id}>{wordsOf(name)}</label>
      <span class="inline">
        <input
          id={id}
          name={name}
          type="datetime-local"
          step="any"
          required={isRequired}
          aria-describedby={`${id}-zone`}
          value={text}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value)
            onChange(instantOf(currentTarget.value) ?? none)
          }}
        />
        <span class="muted" id={`${id}-zone`}>
          {zoneText(instantOf(text))}
        </span>
      </span>
      <Hint of={schema} />
    </div>
  )
}

/** A list of texts, each in a line. */
export function LinesField(props: FieldProps) {
  const print = (lines: unknown) => (Array.isArray(lines) ? lines.join('\n') : '')
  const read = (text: string) => ({ value: linesOf(text) })
  return <AreaField {...props} label={`${wordsOf(props.name)}, one a line`} most={8} print={print} read={read} />
}

function linesOf(text: string): readonly string[] {
  const lines = text.split('\n').map((line) => line.trim())
  return lines.filter((line) => line !== '')
}

/** The text of a value as the user writes it; written anew where another value comes from outside. */
function useTyped(
  value: unknown,
  print: (value: unknown) => string,
  read: (text: string) => unknown,
): readonly [string, (text: string) => void] {
  const [text, setText] = useState(() => print(value))
  const present = JSON.stringify(value)
  useEffect(() => {
    if (JSON.stringify(read(text)) !== present) setText(print(value))
  }, [present])
  return [text, setText]
}

interface AreaProps extends Pick<FieldProps, 'value' | 'onChange'> {
  readonly label: string
  /** The most lines that it shows. */
  readonly most: number
  readonly schema?: FormSchema
  readonly isRequired?: boolean
  readonly print?: (value: unknown) => string
  readonly read?: typeof parsedJson
}

/** A value as a text of several lines, JSON unless it is printed otherwise. Text that cannot be read keeps the form from being sent. */
export function AreaField({ print = jsonText, read = parsedJson, ...field }: AreaProps) {
  const { label, most, schema, value, isRequired = false, onChange } = field
  const [text, setText] = useTyped(value, print, (typed) => read(typed)?.value)
  return (
    <div class="field">
      <label>
        {label}
        <textarea
          class="code"
          rows={Math.min(most, text.split('\n').length + 1)}
          spellcheck={false}
          required={isRequired}
          value={text}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value)
            const typed = read(currentTarget.value)
            currentTarget.setCustomValidity(typed === undefined ? 'This is no JSON of the right form.' : '')
            if (typed !== undefined) onChange(typed.value)
          }}
        />
      </label>
      {schema && <Hint of={schema} />}
    </div>
  )
}

/** A value as JSON for people; nothing for none. */
function jsonText(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value, null, 2)
}

/** A value that has no fields of its own. */
export function JsonField(props: FieldProps) {
  return <AreaField {...props} label={`${wordsOf(props.name)}, as JSON`} most={12} />
}

export function Hint({ of: { description } }: { of: FormSchema }) {
  return description ? <p class="hint">{plainly(description)}</p> : null
}

/** The value of a JSON text, undefined inside for an empty text; no answer for a text that is no JSON. */
export function parsedJson(text: string): { readonly value: unknown } | undefined {
  if (text.trim() === '') return { value: undefined }
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}
