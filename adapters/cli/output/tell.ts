/** Writes one line to standard error, where everything goes that is not an answer. */
export function tell(message: string): void {
  console.error(`portcullis: ${oneLine(message)}`)
}

/** A text as one line: control characters, such as line ends in a file name, show as spaces. */
function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ').trim()
}
