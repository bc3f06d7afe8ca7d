/** A request body, or a shown entity. */
type Members = Readonly<Record<string, unknown>>

/** Peculiarities of one resource's wire forms. Deployed clients depend on each of them. */
export interface Quirks {
  /** Shown members that an answer leaves out instead of null. */
  readonly mayBeAbsent?: readonly string[]
  /** Lists that deployed controllers show as null while they are empty; with `compat`, this controller does so too. */
  readonly nullWhenEmpty?: readonly string[]
  /** Maps that deployed controllers leave out while they are empty; with `compat`, this controller does so too. */
  readonly absentWhenEmpty?: readonly string[]
  /** References that repeat their `entity` as `urlName`, the spelling of older clients. */
  readonly urlNames?: readonly string[]
  /** Members of a create request that deployed controllers require although they have a default here. */
  readonly requiredAsDeployed?: readonly string[]
  /** Members that replace requires, if they differ from `required`. */
  readonly requiredOnReplace?: readonly string[]
  /** Fixed at creation, yet required on patch, where they determine the members that a client means. */
  readonly requiredOnPatch?: readonly string[]
  /** Fields that a patch clears by leaving them out; only with `compat`. */
  readonly clearedUnlessSent?: readonly string[]
  /** Fields with another name in requests: field to member of the body. */
  readonly inputNames?: Readonly<Record<string, string>>
  /** Corrects alternative spellings in requests before validation. */
  readonly spellings?: (body: Members) => Members
}

/** A declaration that may have quirks. */
interface Quirky {
  readonly quirks?: Quirks | undefined
}

/** The name of a field in requests. */
export function inputName({ quirks }: Quirky, field: string): string {
  return quirks?.inputNames?.[field] ?? field
}

/** The body of a create request in the names of the record. */
export function inStoredNames({ quirks }: Quirky, body: object): Members {
  const spelled = new Map(Object.entries(quirks?.inputNames ?? {}).map(([field, name]) => [name, field]))
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [spelled.get(name) ?? name, value]))
}

/** Reports whether a controller with `compat` shows an empty list as null. */
export function isNullWhenEmpty({ quirks }: Quirky, field: string): boolean {
  return quirks?.nullWhenEmpty?.includes(field) ?? false
}

/**
 * A shown entity without optional members that are null, and, with `compat`, without the empty maps that deployed controllers leave out.
 */
export function withoutAbsent({ quirks = {} }: Quirky, showsEmptyAsDeployed: boolean, detail: Members): Members {
  const { mayBeAbsent = [], absentWhenEmpty = [] } = quirks
  const maps = showsEmptyAsDeployed ? absentWhenEmpty : []
  const absent = [
    ...mayBeAbsent.filter((member) => detail[member] === null),
    ...maps.filter((member) => Object.keys(Object(detail[member])).length === 0),
  ]
  return absent.length === 0
    ? detail
    : Object.fromEntries(Object.entries(detail).filter(([member]) => !absent.includes(member)))
}
