/** Any wire form of an entity, or a part of one. */
type Form = Readonly<Record<string, unknown>>

/** The two parts of a form: no member stands in both. */
interface Parts {
  readonly base: Form
  readonly members: Form
}

/** A text that is kept, and what was made of its form. */
interface Kept {
  text?: string
  /** The text in UTF-8. */
  bytes?: Uint8Array
  /** The forms that it was put together to of late, by the members that it was given. */
  compositions?: readonly { readonly members: object; readonly form: object }[]
  /** A form that shows it as members, with what else that was made of. */
  shownBy?: { readonly sources: readonly unknown[]; readonly form: object }
  /** A form that was made of it alone, with what made it. */
  variant?: { readonly make: unknown; readonly form: object }
}

/** A value that was made of an object, with what else it was made of. */
interface Made {
  readonly sources: readonly unknown[]
  readonly value: unknown
}

/** Purposes for which values are made of objects: the same object may serve several. */
type Purpose = 'own members' | 'credentials' | 'unguarded' | 'without configs' | 'online' | 'offline' | 'fingerprint'

/** Compositions of one form. Callers of different rights see the same entity with members of their own. */
const MOST_COMPOSITIONS = 4
/** Characters. A longer text is written each time anew: what is kept for many must be small. */
const LONGEST_SHOWN = 8192
const NOTHING: readonly unknown[] = []
const ENCODER = new TextEncoder()

/**
 * The JSON texts of wire forms that stand in many answers or often in one: each is written once, and kept for as long as its form
 * is in use. Nobody may change a form whose text is kept. An engine has one; what it answers never depends on what is kept.
 */
export class WireTexts {
  /** Keeps nothing, in every engine of the process: a run of tests shows that nothing but time follows from what is kept. */
  static isOff = false

  readonly #kept = new WeakMap<object, Kept>()
  readonly #parts = new WeakMap<object, Parts>()
  readonly #made = new Map<Purpose, WeakMap<object, Made>>()

  #texts = 0
  #characters = 0
  /** Some runtimes do not tell when an object is gone; what is kept is not counted there. */
  readonly #gone =
    typeof FinalizationRegistry === 'undefined'
      ? undefined
      : new FinalizationRegistry<number>((characters) => {
          this.#texts -= 1
          this.#characters -= characters
        })

  /** How many texts are kept, and their characters; undefined where the runtime does not tell which are gone. */
  size(): { readonly texts: number; readonly characters: number } | undefined {
    return this.#gone && { texts: this.#texts, characters: this.#characters }
  }

  /** Keeps the JSON text of a wire form. */
  keep<T extends object>(form: T): T {
    if (!WireTexts.isOff && !this.#kept.has(form)) this.#kept.set(form, {})
    return form
  }

  /** The value that `make` makes of an object and of `sources`: the same one as before while the sources are the same. */
  made<T>(purpose: Purpose, of: object, make: () => T, sources: readonly unknown[] = NOTHING): T {
    if (WireTexts.isOff) return make()
    const values = this.#made.get(purpose) ?? new WeakMap<object, Made>()
    this.#made.set(purpose, values)
    const known = values.get(of)
    // It was made for the same purpose of the same values.
    if (known !== undefined && isSame(known.sources, sources)) return known.value as T
    const value = make()
    values.set(of, { sources, value })
    return value
  }

  /**
   * A wire form with further members, which writes its base, a form whose text is kept, as one piece. Where the text of the
   * members is kept too, the form is the same one as before and written once.
   */
  composed<Base extends Form, Members extends Form>(base: Base, members: Members): Base & Members {
    const kept = this.#kept.get(base)
    if (kept === undefined || !this.#kept.has(members)) return this.#put(base, members)
    const known = kept.compositions?.find((one) => one.members === members)
    // It was put together of the same two.
    if (known !== undefined) return known.form as Base & Members
    const form = this.keep(this.#put(base, members))
    kept.compositions = [...(kept.compositions ?? []), { members, form }].slice(-MOST_COMPOSITIONS)
    return form
  }

  #put<Base extends Form, Members extends Form>(base: Base, members: Members): Base & Members {
    const form = { ...base, ...members }
    // A member that stands in both would be written twice.
    const isOnce = !WireTexts.isOff && Object.keys(members).every((name) => !Object.hasOwn(base, name))
    if (isOnce) this.#parts.set(form, { base, members })
    return form
  }

  /** A form that shows members whose text is kept: the same one as before, which is written once, while `sources` are the same. */
  madeWith<T extends Form>(members: Form, sources: readonly unknown[], make: () => T): T {
    const kept = this.#kept.get(members)
    if (kept === undefined) return make()
    // It was made by the same function of the same values.
    if (kept.shownBy !== undefined && isSame(kept.shownBy.sources, sources)) return kept.shownBy.form as T
    const form = make()
    const text = JSON.stringify(form)
    if (text.length > LONGEST_SHOWN) return form
    this.#kept.set(form, { text })
    this.#count(form, text)
    kept.shownBy = { sources, form }
    return form
  }

  /** A form that `make` makes of another alone: where the text of that one is kept, it is made once, and written once. */
  variantOf<From extends object, To extends object>(form: From, make: (form: From) => To): To {
    const kept = this.#kept.get(form)
    if (kept === undefined) return make(form)
    // It was made by the same function of the same form.
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

  /** The JSON text of a form in UTF-8, where its text is kept: encoded once. Nobody may change the bytes. */
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
    // A list is as quickly written whole, unless the texts of its elements outlive it.
    const isListOfKept = Array.isArray(value) && !this.#kept.has(value) && this.#kept.has(value[0])
    return isListOfKept ? `[${value.map((one) => this.jsonText(one)).join(',')}]` : this.jsonText(value)
  }
}

function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((source, position) => source === other[position])
}
