/** Reports whether every storage can keep a text as it is: no U+0000, no half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\u0000')
}

/** Reports whether every text in a JSON value, at any depth and in names of members too, is storable. */
export function holdsStorableText(json: unknown): boolean {
  const open: unknown[] = [json]
  while (open.length > 0) {
    const value = open.pop()
    if (typeof value === 'string' && !isStorable(value)) return false
    if (typeof value !== 'object' || value === null) continue
    for (const [name, member] of Object.entries(value)) {
      if (!isStorable(name)) return false
      open.push(member)
    }
  }
  return true
}
