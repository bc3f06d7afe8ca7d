/** Control characters, and those that reverse, mark or end lines of the text around them without being seen. */
const HIDDEN = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/**
 * A text of others as it may be shown: what would move, hide or reverse other text on a terminal is written out, as `\u001b`;
 * line ends and tabs stay. JSON stays the same JSON.
 *
 * @example
 * visible('\u001b[2Jpayroll') // '\\u001b[2Jpayroll'
 */
export function visible(text: string): string {
  return text.replace(HIDDEN, (mark) => (mark === '\n' || mark === '\t' ? mark : escaped(mark)))
}

/** The same in one line, so that it cannot fake others: line ends and tabs become spaces. */
export function visibleLine(text: string): string {
  return visible(text.replace(/[\t\n\v\f\r]+/g, ' '))
}

/** Reports whether a text is shown otherwise than it is written. */
export function hidesText(text: string): boolean {
  return text.search(HIDDEN) >= 0
}

function escaped(mark: string): string {
  return `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`
}
