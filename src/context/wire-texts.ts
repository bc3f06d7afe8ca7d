/** Any wire form of an entity, or a part of it. */
type Form = Readonly<Record<string, unknown>>

/** The two parts of a form, which share no member. */
interface Parts {
  readonly base: Form
  readonly members: Form
}

/** A kept text, and the forms that were made from its form. */
interface Kept {
  text?: string
  /** The text in UTF-8. */
  bytes?: Uint8Array
  /** The forms that were recently composed from it, by the members that were added. */
  compositions?: readonly { readonly members: object; readonly form: object }[]
  /** A form that shows it as members, with its other sources. */
  shownBy?: { readonly sources: readonly unknown[]; readonly form: object }
  /** A form that was made from it alone, with the function that made it. */
  variant?: { readonly make: unknown; readonly form: object }
}

/** A value that was made from an object, with its other sources. */
interface Made {
  readonly sources: readonly unknown[]
  readonly value: unknown
}

/** Purposes for which values are made from objects: one object may serve several. */
type Purpose = 'own members' | 'credentials' | 'unguarded' | 'without configs' | 'online' | 'offline' | 'fingerprint'

/** Compositions of one form. Callers with different rights see the same entity with different members. */
const MOST_COMPOSITIONS = 4
/** Characters. A longer text is written again each time, since texts kept for many entities must be small. */
const LONGEST_SHOWN = 8192
const NOTHING: readonly unknown[] = []
const ENCODER = new TextEncoder()

/**
 * The JSON texts of wire forms that occur in many answers, or often in one answer. Each text is written once, and kept for as long as its
 * form is in use. A form whose text is kept must not be changed. An engine has one such store; its answers never depend on the kept texts.
 */
export class WireTexts {
  /** Turns keeping off in every engine of the process: a test run shows that kept texts only save time. */
  static isOff = false

  readonly #kept = new WeakMap<object, Kept>()
  readonly #parts = new WeakMap<object, Parts>()
  readonly #made = new Map<Purpose, WeakMap<object, Made>>()

  #texts = 0
  #characters = 0
  /** Some runtimes do not report collected objects; kept texts are not counted there. */
  readonly #gone =
    typeof FinalizationRegistry === 'undefined'
      ? undefined
      : new FinalizationRegistry<number>((characters) => {
          this.#texts -= 1
          this.#characters -= characters
        })

  /** The number of kept texts and of their characters; undefined where the runtime does not report collected objects. */
  size(): { readonly texts: number; readonly characters: number } | undefined {
    return this.#gone && { texts: this.#texts, characters: this.#characters }
  }

  /** Keeps the JSON text of a wire form. */
  keep<T extends object>(form: T): T {
    if (!WireTexts.isOff && !this.#kept.has(form)) this.#kept.set(form, {})
    return form
  }

  /** The value that `make` makes from an object and `sources`; the previous value while the sources are the same. */
  made<T>(purpose: Purpose, of: object, make: () => T, sources: readonly unknown[] = NOTHING): T {
    if (WireTexts.isOff) return make()
    const values = this.#made.get(purpose) ?? new WeakMap<object, Made>()
    this.#made.set(purpose, values)
    const known = values.get(of)
    // The value was made for the same purpose from the same sources.
    if (known !== undefined && isSame(known.sources, sources)) return known.value as T
    const value = make()
    values.set(of, { sources, value })
    return value
  }

  /**
   * A wire form with further members, written with the kept text of its base as one piece. Where the text of the members is kept too, the
   * same form is answered again and its text is written once.
   */
  composed<Base extends Form, Members extends Form>(base: Base, members: Members): Base & Members {
    const kept = this.#kept.get(base)
    if (kept === undefined || !this.#kept.has(members)) return this.#put(base, members)
    const known = kept.compositions?.find((one) => one.members === members)
    // The form was composed from the same two parts.
    if (known !== undefined) return known.form as Base & Members
    const form = this.keep(this.#put(base, members))
    kept.compositions = [...(kept.compositions ?? []), { members, form }].slice(-MOST_COMPOSITIONS)
    return form
  }

  #put<Base extends Form, Members extends Form>(base: Base, members: Members): Base & Members {
    const form = { ...base, ...members }
    // A member of both parts would be written twice.
    const isOnce = !WireTexts.isOff && Object.keys(members).every((name) => !Object.hasOwn(base, name))
    if (isOnce) this.#parts.set(form, { base, members })
    return form
  }

  /** A form that shows members with a kept text; the previous form, written once, while `sources` are the same. */
  madeWith<T extends Form>(members: Form, sources: readonly unknown[], make: () => T): T {
    const kept = this.#kept.get(members)
    if (kept === undefined) return make()
    // The form was made by the same function from the same sources.
    if (kept.shownBy !== undefined && isSame(kept.shownBy.sources, sources)) return kept.shownBy.form as T
    const form = make()
    const text = JSON.stringify(form)
    if (text.length > LONGEST_SHOWN) return form
    this.#kept.set(form, { text })
    this.#count(form, text)
    kept.shownBy = { sources, form }
    return form
  }

  /** A form that `make` makes from another form alone. Where the text of the other form is kept, the variant is made and written once. */
  variantOf<From extends object, To extends object>(form: From, make: (form: From) => To): To {
    const kept = this.#kept.get(form)
    if (kept === undefined) return make(form)
    // The variant was made by the same function from the same form.
    if (kept.variant?.make === make) return kept.variant.form as To
    const variant = this.keep(make(form))
    kept.variant = { make, form: variant }
    return variant
  }

  /** The JSON text of a wire form, as `JSON.stringify` writes it. */
  jsonText(form: unknown): string {
    if (typeof form !== 'object' || form === null) return JSON.stringify(form)
    const kept = this.#kept.get(form)
    if (kept === undefined) return this.#written(form)
    if (kept.text === undefined) {
      kept.text = this.#written(form)
      this.#count(form, kept.text)
    }
    return kept.text
  }

  #count(form: object, { length }: string): void {
    this.#gone?.register(form, length)
    this.#texts += 1
    this.#characters += length
  }

  /** The kept JSON text of a form in UTF-8, encoded once. The bytes must not be changed. */
  keptBytes(form: unknown): Uint8Array | undefined {
    if (typeof form !== 'object' || form === null) return undefined
    const kept = this.#kept.get(form)
    if (kept === undefined) return undefined
    kept.bytes ??= ENCODER.encode(this.jsonText(form))
    return kept.bytes
  }

  #written(form: object): string {
    const parts = this.#parts.get(form)
    if (parts === undefined) return JSON.stringify(form)
    const base = this.jsonText(parts.base)
    const members = Object.entries(parts.members).flatMap(([name, value]) => {
      const text = this.#memberText(value)
      return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`]
    })
    if (members.length === 0) return base
    const separator = base === '{}' ? '' : ','
    return `${base.slice(0, -1)}${separator}${members.join(',')}}`
  }

  #memberText(value: unknown): string | undefined {
    if (typeof value !== 'object' || value === null) return JSON.stringify(value)
    // Writing a list whole is as fast, unless the texts of its elements outlive it.
    const isListOfKept = Array.isArray(value) && !this.#kept.has(value) && this.#kept.has(value[0])
    return isListOfKept ? `[${value.map((one) => this.jsonText(one)).join(',')}]` : this.jsonText(value)
  }
}

function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((source, position) => source === other[position])
}
