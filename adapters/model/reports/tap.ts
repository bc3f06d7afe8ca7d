import { visible, visibleLine } from '../../../src/domain/visible-text.ts'
import { placeText } from '../../../src/model/index.ts'
import type { TestResult } from '../testing/test-result.ts'

/**
 * How assertions came out, in the Test Anything Protocol, version 14.
 *
 * @example
 * process.stdout.write(tap(await testModel(model)))
 */
export function tap({ cases, notes }: TestResult): string {
  const lines = ['TAP version 14', `1..${cases.length}`, ...notes.map((note) => `# ${visibleLine(note)}`)]
  for (const [position, { name, passed, place, text }] of cases.entries()) {
    lines.push(`${passed ? 'ok' : 'not ok'} ${position + 1} - ${escaped(name)}`)
    if (passed) continue
    lines.push('  ---', `  at: ${JSON.stringify(placeText(place))}`, '  message: |-')
    lines.push(
      ...visible(text)
        .split('\n')
        .map((line) => `    ${line}`),
      '  ...',
    )
  }
  return `${lines.join('\n')}\n`
}

/** A hash would begin a directive. */
function escaped(name: string): string {
  return visibleLine(name.replaceAll('\\', '\\\\').replaceAll('#', '\\#'))
}
