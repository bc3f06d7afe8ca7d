import type { Style } from '../../output/terminal.ts'

/** Results and plans with their words for good, bad and changed in colour, where the terminal shows it. */
export function coloured(text: string, style: Style): string {
  return text
    .replace(/^(?:ok {4}|(?: {2})?\+ )/gm, (start) => style('green', start))
    .replace(/^(?:FAIL|(?: {2})?- )/gm, (start) => style('red', start))
    .replace(/^(?:~ |note:)/gm, (start) => style('yellow', start))
}
