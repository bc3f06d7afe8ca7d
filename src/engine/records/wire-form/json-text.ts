/** Any wire form of an entity, or a part of one. */
type Form = Readonly<Record<string, unknown>>

/** Wire forms that stand in many answers or often in one, with their JSON text once somebody has asked for it. */
const TEXTS = new WeakMap<object, string | undefined>()

/** Wire forms that were put together, with what they were made of. */
const COMPOSITIONS = new WeakMap<object, { readonly base: Form; readonly members: Form }>()

/** What a form whose text is kept was put together with of late, where that is kept as well, and what came of it. */
const MADE_OF = new WeakMap<object, { readonly members: object; readonly form: object }[]>()

/** So many answers of different callers may show the same entity in a way of their own. */
const MOST_MADE = 4

/** Keeps the JSON text of a wire form for as long as the form is in use. Nobody may change the form from then on. */
export function keepText<T extends object>(form: T): T {
  if (!TEXTS.has(form)) TEXTS.set(form, undefined)
  return form
}

/**
 * A wire form with further members, which writes its base, a form whose text is kept, as one piece. Where the text of the
 * members is kept too, the form is the same one as before and written once.
 */
export function composed<Base extends Form, Members extends Form>(base: Base, members: Members): Base & Members {
  if (!TEXTS.has(base) || !TEXTS.has(members)) return put(base, members)
  const made = MADE_OF.get(base) ?? []
  const known = made.find((one) => one.members === members)
  // It was put together of the same two.
  if (known !== undefined) return known.form as Base & Members
  const form = keepText(put(base, members))
  made.push({ members, form })
  MADE_OF.set(base, made.slice(-MOST_MADE))
  return form
}

function put<Base extends Form, Members extends Form>(base: Base, members: Members): Base & Members {
  const form = { ...base, ...members }
  // A member that stands in both would be written twice.
  if (Object.keys(members).every((name) => !Object.hasOwn(base, name))) COMPOSITIONS.set(form, { base, members })
  return form
}

/** Forms by members that they show and whose text is kept, with what else they were made of. */
const MADE_WITH = new WeakMap<object, { readonly sources: readonly unknown[]; readonly form: object }>()

/** Characters. A longer text is written each time anew: what is kept for many must be small. */
const LONGEST_MADE = 8192

/**
 * A form that shows members whose text is kept: the same one as before, which is written once, while it is made of the same
 * `sources`. It is kept for as long as the members are.
 */
export function madeWith<T extends Form>(members: Form, sources: readonly unknown[], make: () => T): T {
  if (!TEXTS.has(members)) return make()
  const known = MADE_WITH.get(members)
  // It was made by the same function of the same values.
  if (known !== undefined && sources.every((source, at) => source === known.sources[at])) return known.form as T
  const form = make()
  const text = JSON.stringify(form)
  if (text.length > LONGEST_MADE) return form
  TEXTS.set(form, text)
  MADE_WITH.set(members, { sources, form })
  return form
}

/** Forms that were made of one whose text is kept, with what made them. */
const VARIANTS = new WeakMap<object, { readonly make: unknown; readonly form: object }>()

/** A form that `make` makes of another alone: where the text of that one is kept, it is made once, and written once. */
export function variantOf<From extends object, To extends object>(form: From, make: (form: From) => To): To {
  if (!TEXTS.has(form)) return make(form)
  const known = VARIANTS.get(form)
  // It was made by the same function of the same form.
  if (known !== undefined && known.make === make) return known.form as To
  const variant = keepText(make(form))
  VARIANTS.set(form, { make, form: variant })
  return variant
}

/** The JSON text of a wire form, as `JSON.stringify` writes it. */
export function jsonText(form: unknown): string {
  if (typeof form !== 'object' || form === null) return JSON.stringify(form)
  return TEXTS.has(form) ? keptText(form) : written(form)
}

const ENCODER = new TextEncoder()

/** The UTF-8 of texts that stand in lists again and again. */
const BYTES = new WeakMap<object, Uint8Array>()

/** The JSON text of a form in UTF-8, where its text is kept: encoded once. Nobody may change the bytes. */
export function keptBytes(form: unknown): Uint8Array | undefined {
  if (typeof form !== 'object' || form === null || !TEXTS.has(form)) return undefined
  const known = BYTES.get(form)
  if (known !== undefined) return known
  const bytes = ENCODER.encode(keptText(form))
  BYTES.set(form, bytes)
  return bytes
}

function written(form: object): string {
  const parts = COMPOSITIONS.get(form)
  if (parts === undefined) return JSON.stringify(form)
  const base = keptText(parts.base)
  const members = Object.entries(parts.members).flatMap(([name, value]) => {
    const text = memberText(value)
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`]
  })
  if (members.length === 0) return base
  const separator = base === '{}' ? '' : ','
  return `${base.slice(0, -1)}${separator}${members.join(',')}}`
}

function memberText(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  // A list is as quickly written whole, unless the texts of its elements outlive it.
  const isListOfKept = Array.isArray(value) && !TEXTS.has(value) && TEXTS.has(value[0])
  return isListOfKept ? `[${value.map(keptText).join(',')}]` : keptText(value)
}

function keptText(form: object): string {
  const known = TEXTS.get(form)
  if (known !== undefined) return known
  const text = written(form)
  if (TEXTS.has(form)) TEXTS.set(form, text)
  return text
}
