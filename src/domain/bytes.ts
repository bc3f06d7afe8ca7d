/** The bytes of a text in UTF-8. */
export function utf8Bytes(text: string): number {
  let bytes = text.length
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    // Both halves of a surrogate pair count two: the character that they make has four bytes.
    if (unit > 0x7f) bytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1
  }
  return bytes
}

/** The bytes of a value as JSON; 0 for one that JSON leaves out. */
export function jsonBytes(value: unknown): number {
  const text: string | undefined = JSON.stringify(value)
  return text === undefined ? 0 : utf8Bytes(text)
}
