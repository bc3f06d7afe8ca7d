import { visible, visibleLine } from '../../../src/domain/visible-text.ts'
import { placeText } from '../../../src/model/index.ts'
import type { TestCase, TestResult } from '../testing/test-result.ts'

/**
 * How assertions came out, for people: one line for each, and for those that fail their place and why.
 *
 * @example
 * console.log(testText(await testModel(model)))
 */
export function testText({ cases, passed, failed, notes }: TestResult): string {
  const lines = [...notes.map((note) => `note: ${visibleLine(note)}`), ...cases.flatMap(caseLines)]
  return [...lines, '', failed === 0 ? `${passed} passed` : `${failed} failed, ${passed} passed`].join('\n')
}

function caseLines({ name, passed, place, text }: TestCase): readonly string[] {
  if (passed) return [`ok    ${visibleLine(name)}`]
  return [
    `FAIL  ${visibleLine(name)} (${placeText(place)})`,
    ...visible(text)
      .split('\n')
      .map((line) => `      ${line}`),
  ]
}
