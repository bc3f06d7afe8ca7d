/** Any wire form of an entity, or a part of one. */
type Form = Readonly<Record<string, unknown>>

/** Wire forms that stand in many answers or often in one, with their JSON text once somebody has asked for it. */
const TEXTS = new WeakMap<object, string | undefined>()

/** Wire forms that were put together, with what they were made of. */
const COMPOSITIONS = new WeakMap<object, { readonly base: Form; readonly members: Form }>()

/** Keeps the JSON text of a wire form for as long as the form is in use. Nobody may change the form from then on. */
export function keepText<T extends object>(form: T): T {
  if (!TEXTS.has(form)) TEXTS.set(form, undefined)
  return form
}

/** A wire form with further members, which writes its base, a form whose text is kept, as one piece. */
export function composed<Base extends Form, Members extends Form>(base: Base, members: Members): Base & Members {
  const form = { ...base, ...members }
  // A member that stands in both would be written twice.
  if (Object.keys(members).every((name) => !Object.hasOwn(base, name))) COMPOSITIONS.set(form, { base, members })
  return form
}

/** The JSON text of a wire form, as `JSON.stringify` writes it. */
export function jsonText(form: unknown): string {
  const parts = typeof form === 'object' && form !== null ? COMPOSITIONS.get(form) : undefined
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
  const text = JSON.stringify(form)
  if (TEXTS.has(form)) TEXTS.set(form, text)
  return text
}
