import type { Client } from 'pg'

/** So many statements may be prepared on a connection, and so many are counted. */
const PREPARED = 400
const COUNTED = 4000

/** A client that prepares a statement on the server when it is run for the third time. */
export function preparingClient(Base: typeof Client): typeof Client {
  const names = new Map<string, string>()
  const seen = new Map<string, number>()

  function nameOf(text: string): string | undefined {
    const name = names.get(text)
    if (name !== undefined || names.size >= PREPARED) return name
    const times = (seen.get(text) ?? 0) + 1
    if (times < 3) {
      if (seen.size >= COUNTED) seen.clear()
      seen.set(text, times)
      return undefined
    }
    seen.delete(text)
    const made = `portcullis_${names.size}`
    names.set(text, made)
    return made
  }

  return class extends Base {
    // The client has many forms of `query`; all but the one of text with values go on as they are.
    override query(...args: readonly unknown[]): never {
      const [text, values] = args
      const name = typeof text === 'string' && Array.isArray(values) && values.length > 0 ? nameOf(text) : undefined
      const forwarded = name === undefined ? args : [{ name, text, values }, ...args.slice(2)]
      return Reflect.apply(super.query, this, forwarded) as never
    }
  }
}
