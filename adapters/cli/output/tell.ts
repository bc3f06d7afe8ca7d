import { visibleLine } from '../../../src/domain/visible-text.ts'

/** Writes one line to standard error, where everything goes that is not an answer. */
export function tell(message: string): void {
  console.error(`portcullis: ${visibleLine(message).trim()}`)
}
