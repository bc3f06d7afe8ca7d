import { useState } from 'preact/hooks'
import { memberOf, membersOf, readJson } from '../api/read-json.ts'
import { attributeChip } from '../parts/chip.ts'
import { ChipsField } from '../parts/chips-field.tsx'
import { Toggle } from '../parts/fields.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { SELECTED_BY, wordsOf } from '../parts/words.ts'
import { useApis } from '../session/session.ts'
import { blankOf, type FormSchema, resolved, typesOf } from './form-schemas.ts'
import { ReferenceField, referenceOf } from './reference-field.tsx'
import { type FieldProps, Hint, InstantField, JsonField, LinesField, TextField } from './text-fields.tsx'

/** Objects within objects that have fields of their own; anything deeper is written as JSON. */
const DEEPEST = 5
/** The field for a value of a schema. */
function SchemaField(props: FieldProps) {
  const { name, kind, root, depth = 0 } = props
  if (kind === 'configs' && name === 'data') return <ConfigData {...props} />
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

/** Members that the controller keeps for the user and does not interpret. */
const NOTES = new Set(['tags', 'appData'])

/** The fields of the members of an object; the required ones first, then the data of a config below its type, notes of the user last. */
export function ObjectFields(props: Omit<FieldProps, 'name' | 'isRequired'>) {
  const { schema, value, depth = 0, onChange } = props
  const values = membersOf(value)
  const required = new Set(schema.required)
  const rank = (name: string) => (NOTES.has(name) ? 3 : name === 'data' ? 2 : required.has(name) ? 0 : 1)
  const members = Object.entries(schema.properties ?? {}).toSorted(([one], [other]) => rank(one) - rank(other))
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
  const [, selected] = (kind === 'cas' ? [] : Object.entries(SELECTED_BY)).find(([list]) => list === name) ?? []
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

/** The settings of a config, by the fields of its type's schema. */
function ConfigData(props: FieldProps) {
  const apis = useApis()
  const typeId = String(props.entity.configTypeId ?? '')
  const answer = useAnswer(
    (signal) => (typeId === '' ? undefined : readJson(apis, 'config-types', typeId, signal)),
    [apis, typeId],
  )
  if (answer.problem) return <p class="problem">{answer.problem}</p>
  if (typeId === '') return <p class="hint">Choose a config type: its fields follow.</p>
  if (answer.data === undefined) return null
  const of: FormSchema = membersOf(memberOf(answer.data, 'schema'))
  if (of.properties === undefined) return <JsonField {...props} />
  return (
    <fieldset class="nested">
      <legend>Settings</legend>
      <ObjectFields {...props} kind="settings" schema={of} root={of} depth={0} />
    </fieldset>
  )
}
