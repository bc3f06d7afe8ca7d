/** A body of the wire, or what is shown of an entity. */
type Members = Readonly<Record<string, unknown>>

/** Ways in which the wire forms of one resource differ from those of any other: clients depend on each of them. */
export interface Quirks {
  /** Shown members that an answer leaves out where they would be null. */
  readonly mayBeAbsent?: readonly string[]
  /** Lists that deployed controllers show as null while they are empty; shown so where the controller does as they do. */
  readonly nullWhenEmpty?: readonly string[]
  /** Maps that deployed controllers leave out while they are empty; left out where the controller does as they do. */
  readonly absentWhenEmpty?: readonly string[]
  /** References that show their `entity` as `urlName` too, its spelling in older clients. */
  readonly urlNames?: readonly string[]
  /** Members of a create request that have a default, and that deployed controllers require all the same. */
  readonly requiredAsDeployed?: readonly string[]
  /** Required on replace, where that differs from `required`. */
  readonly requiredOnReplace?: readonly string[]
  /** Settled at creation and yet required on patch, where it tells which members a client means. */
  readonly requiredOnPatch?: readonly string[]
  /** Fields that a patch clears by leaving them out, where the controller does as deployed ones do. */
  readonly clearedUnlessSent?: readonly string[]
  /** Fields that requests spell differently: field to the member of the body. */
  readonly inputNames?: Readonly<Record<string, string>>
  /** Puts other spellings that requests may use right before validation. */
  readonly spellings?: (body: Members) => Members
}

/** A declaration that may have quirks. */
interface Quirky {
  readonly quirks?: Quirks | undefined
}

/** How a request spells a field. */
export function inputName({ quirks }: Quirky, field: string): string {
  return quirks?.inputNames?.[field] ?? field
}

/** The body of a create request in the names of the record. */
export function inStoredNames({ quirks }: Quirky, body: object): Members {
  const spelled = new Map(Object.entries(quirks?.inputNames ?? {}).map(([field, name]) => [name, field]))
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [spelled.get(name) ?? name, value]))
}

/** Reports whether an empty list is shown as null, by a controller that does as deployed ones. */
export function isNullWhenEmpty({ quirks }: Quirky, field: string): boolean {
  return quirks?.nullWhenEmpty?.includes(field) ?? false
}

/** A shown entity without the members that may be absent and are null, and without empty maps where those are absent as deployed. */
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
