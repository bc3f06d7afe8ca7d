import { useEffect, useRef, useState } from 'preact/hooks'
import { changeBy, createFrom, membersOf } from '../api/read-json.ts'
import { ActionProblem, useAction } from '../parts/action.tsx'
import { wordsOf } from '../parts/words.ts'
import { useApis } from '../session/session.ts'
import { blankOf, changedOf, type FormSchema, type Values, valuesOf } from './form-schemas.ts'
import { ObjectFields } from './schema-field.tsx'
import { AreaField, parsedJson } from './text-fields.tsx'

interface Props {
  readonly kind: string
  readonly schema: FormSchema
  /** The entity that is changed; undefined for a new one. */
  readonly entity?: Values
  /** Members of a new entity that are filled in. */
  readonly given?: Values
  /** Whether the request is shown as JSON. The input stays. */
  readonly isJson: boolean
  readonly onDone: (id: string) => void
}

/** Creates an entity of a kind, or changes one, by fields that follow from the schema of the request, or by its JSON. */
export function EntityForm({ kind, schema, entity, given = {}, isJson, onDone }: Props) {
  const apis = useApis()
  const present = entity === undefined ? {} : valuesOf(schema, entity)
  const [before, setBefore] = useState<Values>(present)
  const [values, setValues] = useState<Values>(entity === undefined ? { ...blankOf(schema), ...given } : present)
  const [taken, setTaken] = useState<readonly string[]>([])
  const isSaved = useRef(false)
  // Fields that others change meanwhile are taken over, but for the fields that the user has changed.
  useEffect(() => {
    const theirs = changedOf(before, present)
    const mine = isSaved.current ? {} : changedOf(before, values)
    isSaved.current = false
    setBefore(present)
    if (entity !== undefined) setValues({ ...present, ...mine })
    const left = changedOf(present, mine)
    setTaken([...new Set([...taken, ...Object.keys(theirs)])].filter((name) => name in left))
  }, [JSON.stringify([present, entity?.updatedAt])])
  const action = useAction()
  const properties = ofType(schema.properties ?? {}, values)
  const body = entity === undefined ? withoutEmpty(values, properties) : changedOf(before, values)
  const isUnchanged = entity !== undefined && Object.keys(body).length === 0
  const onSubmit = async (event: SubmitEvent) => {
    event.preventDefault()
    let id = String(entity?.id ?? '')
    const isDone = await action.run(entity === undefined ? 'Created.' : 'Saved.', async () => {
      if (entity === undefined) id = await createFrom(apis, kind, body)
      // A member is taken away by a request for the whole entity: null leaves it as it is.
      else if (Object.values(body).includes(null)) await changeBy(apis, kind, id, values, 'PUT')
      else await changeBy(apis, kind, id, body)
    })
    isSaved.current = isDone
    if (isDone) onDone(id)
  }
  const shown = { kind, root: schema, entity: { ...entity, ...values } }
  return (
    <form class="fields entity-form" onSubmit={onSubmit}>
      {isJson ? (
        <AreaField
          label="The request as JSON"
          most={30}
          value={values}
          read={parsedObject}
          onChange={(now) => setValues(membersOf(now))}
        />
      ) : (
        <ObjectFields
          {...shown}
          schema={{ ...schema, properties }}
          value={values}
          onChange={(now) => setValues(membersOf(now))}
        />
      )}
      {taken.length > 0 && (
        <p class="note" role="status">
          Somebody else changed {taken.map(wordsOf).join(', ')} meanwhile; to save writes what stands here.
        </p>
      )}
      <ActionProblem of={action.problem} />
      <button type="submit" class="primary" disabled={action.isBusy || isUnchanged}>
        {entity === undefined ? 'Create' : 'Save'}
      </button>
    </form>
  )
}

/** A JSON object; undefined for any other text. */
function parsedObject(text: string): { readonly value: object } | undefined {
  const value = parsedJson(text)?.value
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { value } : undefined
}

/** The fields of the chosen type or method. A field of another one says so: "For `OS`: the operating systems". */
function ofType(properties: NonNullable<FormSchema['properties']>, { typeId, method = typeId }: Values) {
  const typeOf = ({ description = '' }: FormSchema) => /^For `(\w+)`:/.exec(description)?.[1] ?? method
  return Object.fromEntries(Object.entries(properties).filter(([, schema]) => typeOf(schema) === method))
}

/** Members without an input are left to the defaults of the controller, and fields of another type are left out. */
function withoutEmpty(values: Values, properties?: FormSchema['properties']): Values {
  return Object.fromEntries(
    Object.entries(values)
      .filter(
        ([name, value]) => value !== '' && value !== undefined && (properties === undefined || name in properties),
      )
      .map(([name, value]) => {
        const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
        return [name, isObject ? withoutEmpty(membersOf(value)) : value]
      }),
  )
}
