import { useEffect, useId, useState } from 'preact/hooks'
import { hidesText, visible } from '../../../../../src/base/text.ts'
import { membersOf } from '../api/read-json.ts'
import { attributeChip } from '../parts/chip.ts'
import { ChipsField } from '../parts/chips-field.tsx'
import { SELECTED_BY } from '../parts/kind-names.ts'
import { instantOf, localText, zoneText } from '../parts/time-text.ts'
import { Toggle } from '../parts/toggle.tsx'
import { plainly, wordsOf } from '../parts/words.ts'
import { blankOf, type FormSchema, resolved, typesOf, type Values } from './form-schemas.ts'
import { ReferenceField, referenceOf } from './reference-field.tsx'

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

/** Objects within objects that have fields of their own; anything deeper is written as JSON. */
const DEEPEST = 5
/** Texts that may be longer have several lines. */
const LONG_TEXT = 65_536

/** The field for a value of a schema. */
function SchemaField(props: FieldProps) {
  const { name, root, depth = 0 } = props
  const schema = resolved(props.schema, root)
  const value = props.value ?? schema.default ?? undefined
  const [type = ''] = typesOf(schema)
  const own = { ...props, schema, value }
  const label = wordsOf(name)
  if (type === 'object' && schema.properties && depth < DEEPEST) return <ObjectField {...own} />
  if (type === 'array') return <ListField {...own} />
  if (referenceOf(name) && type === 'string') return <ReferenceField {...own} label={label} />
  if (type === 'boolean') {
    return (
      <div class="field">
        <Toggle label={label} isOn={value === true} onChange={props.onChange} />
        <Hint of={schema} />
      </div>
    )
  }
  if (type === 'string' && schema.format === 'date-time') return <InstantField {...own} />
  if (type === 'string' || type === 'integer' || type === 'number')
    return <TextField {...own} isText={type === 'string'} />
  return <JsonField {...own} />
}

/** A field for a text, a number, or one of some texts. */
function TextField({ name, schema, value, isRequired, isText, onChange }: FieldProps & { readonly isText: boolean }) {
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
                {one}
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
function InstantField({ name, schema, value, isRequired, onChange }: FieldProps) {
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

/** The fields of the members of an object; the required ones first. */
export function ObjectFields(props: Omit<FieldProps, 'name' | 'isRequired'>) {
  const { schema, value, depth = 0, onChange } = props
  const values = membersOf(value)
  const required = new Set(schema.required)
  const members = Object.entries(schema.properties ?? {}).toSorted(
    ([one], [other]) => Number(required.has(other)) - Number(required.has(one)),
  )
  return (
    <>
      {members.map(([name, of]) => (
        <SchemaField
          key={name}
          {...props}
          name={name}
          schema={of}
          depth={depth + 1}
          value={values[name]}
          isRequired={required.has(name)}
          onChange={(changed) => onChange({ ...values, [name]: changed })}
        />
      ))}
    </>
  )
}

/** An object that may be left out has fields once it is added. */
function ObjectField(props: FieldProps) {
  const { name, schema, value, isRequired, onChange } = props
  const isThere = isRequired || (value !== undefined && value !== null)
  return (
    <fieldset class="nested">
      <legend>{wordsOf(name)}</legend>
      <Hint of={schema} />
      {isThere && <ObjectFields {...props} />}
      {!isRequired && (
        <button type="button" onClick={() => onChange(isThere ? undefined : blankOf(schema))}>
          {isThere ? 'Take away' : 'Add'}
        </button>
      )}
    </fieldset>
  )
}

function ListField(props: FieldProps) {
  const { name, kind, schema, root, entity, value, onChange } = props
  const list: readonly unknown[] = Array.isArray(value) ? value : []
  const texts = list.filter((one) => typeof one === 'string')
  const label = wordsOf(name)
  const items = resolved(schema.items ?? {}, root)
  const [chosen, setChosen] = useState<ReadonlyMap<string, string>>(new Map())
  const names = new Map([...shownNames(entity[`${name}Display`]), ...chosen])
  const selected = kind === 'cas' ? undefined : SELECTED_BY[name]
  if (selected !== undefined || name === 'roleAttributes' || name === 'identityRoles') {
    const of = selected === undefined ? 'attributes' : 'roles'
    const chips = texts.map((one) =>
      of === 'attributes' ? attributeChip(one) : { value: one, name: names.get(one) ?? one },
    )
    return (
      <div class="field">
        <ChipsField
          label={label}
          chips={chips}
          kind={selected ?? (name === 'identityRoles' ? 'identities' : kind)}
          of={of}
          onChange={(now) => {
            setChosen(new Map([...chosen, ...now.map((chip) => [chip.value, chip.name] as const)]))
            onChange(now.map((chip) => chip.value))
          }}
        />
        <Hint of={schema} />
      </div>
    )
  }
  if (referenceOf(name)) return <ReferenceField {...props} label={label} isList />
  if (typesOf(items)[0] === 'object' && items.properties) {
    return (
      <fieldset class="nested">
        <legend>{label}</legend>
        <Hint of={schema} />
        {list.map((one, at) => (
          <div class="nested" key={at}>
            <ObjectFields
              {...props}
              schema={items}
              value={one}
              onChange={(changed) => onChange(list.with(at, changed))}
            />
            <button type="button" onClick={() => onChange(list.toSpliced(at, 1))}>
              Take away
            </button>
          </div>
        ))}
        <button type="button" onClick={() => onChange([...list, {}])}>
          Add
        </button>
      </fieldset>
    )
  }
  if (typesOf(items)[0] !== 'string') return <JsonField {...props} />
  if (items.enum) {
    const options = items.enum.filter((one) => typeof one === 'string')
    return (
      <fieldset class="nested choices">
        <legend>{label}</legend>
        <Hint of={schema} />
        {options.map((one) => (
          <Toggle
            key={one}
            label={one}
            isOn={texts.includes(one)}
            onChange={(isOn) => onChange(isOn ? [...texts, one] : texts.filter((text) => text !== one))}
          />
        ))}
      </fieldset>
    )
  }
  return <LinesField {...props} value={texts} />
}

/** A list of texts, each in a line. */
function LinesField(props: FieldProps) {
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

function Hint({ of: { description } }: { of: FormSchema }) {
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

function shownNames(display: unknown): ReadonlyMap<string, string> {
  const entries: readonly unknown[] = Array.isArray(display) ? display : []
  return new Map(
    entries.flatMap((entry) => {
      if (typeof entry !== 'object' || entry === null) return []
      const [role, name] = [Reflect.get(entry, 'role'), Reflect.get(entry, 'name')]
      return typeof role === 'string' && typeof name === 'string' ? [[role, name] as const] : []
    }),
  )
}
