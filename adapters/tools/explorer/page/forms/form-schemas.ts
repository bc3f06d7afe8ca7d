/** A JSON schema, with the members that a form reads. */
export interface FormSchema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, FormSchema>>
  readonly required?: readonly string[]
  readonly enum?: readonly unknown[]
  readonly items?: FormSchema
  readonly description?: string
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
  readonly format?: string
  readonly $ref?: string
  readonly allOf?: readonly FormSchema[]
  readonly definitions?: Readonly<Record<string, FormSchema>>
  readonly $defs?: Readonly<Record<string, FormSchema>>
}

/** The forms of a kind; a schema is absent where the API has no such operation. */
export interface KindForm {
  /** As permissions name the kind. */
  readonly permission: string
  readonly create?: FormSchema
  readonly change?: FormSchema
  readonly isDeleted: boolean
}

/** The members of an entity, or of an object in it. */
export type Values = Readonly<Record<string, unknown>>

let asked: Promise<Readonly<Record<string, KindForm>>> | undefined

/** The forms of all kinds, which lie beside the page; read once. */
export function readForms(): Promise<Readonly<Record<string, KindForm>>> {
  asked ??= fetch('./forms.json').then((response) => response.json())
  asked.catch(() => {
    asked = undefined
  })
  return asked
}

/** A schema with its references resolved by the definitions of the schema `root`. */
export function resolved(schema: FormSchema, root: FormSchema): FormSchema {
  const [, name = ''] = /^#\/(?:definitions|\$defs)\/(.+)$/.exec(schema.$ref ?? '') ?? []
  const target = root.definitions?.[name] ?? root.$defs?.[name]
  const parts = [...(schema.allOf ?? []), ...(target === undefined ? [] : [target])]
  const { $ref: _, allOf: __, ...own } = schema
  return Object.assign({}, ...parts.map((part) => resolved(part, root)), own)
}

/** The types of a schema, without null. */
export function typesOf({ type = [] }: FormSchema): readonly string[] {
  return [type].flat().filter((one) => one !== 'null')
}

/** The members of a new entity before the first input: the required members without a default that have an evident value. */
export function blankOf(schema: FormSchema): Values {
  const required = new Set(schema.required)
  return Object.fromEntries(
    Object.entries(schema.properties ?? {}).flatMap(([name, of]) => {
      const value = required.has(name) && of.default === undefined ? blankValue(of) : undefined
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

function blankValue(schema: FormSchema): unknown {
  const [first = ''] = typesOf(schema)
  // A policy of the page selects by any of its role attributes unless the user says otherwise.
  if (schema.enum !== undefined) return schema.enum.find((one) => one === 'AnyOf') ?? schema.enum[0]
  if (first === 'object' && schema.properties) return blankOf(schema)
  return { boolean: false, array: [], integer: Math.max(0, schema.minimum ?? 0), object: {} }[first]
}

/** The members of an entity that the form shows. The API answers some references under other names than it takes. */
export function valuesOf(schema: FormSchema, entity: Values): Values {
  return Object.fromEntries(
    Object.keys(schema.properties ?? {}).flatMap((name) => {
      const [own, id] = [entity[name], entity[`${name}Id`]]
      const value = id !== undefined && typeof own === 'object' ? id : (own ?? id)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

/** The members that have changed. */
export function changedOf(before: Values, after: Values): Values {
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])),
  )
}
