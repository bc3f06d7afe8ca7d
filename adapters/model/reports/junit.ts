import { visibleLine } from '../../../src/domain/visible-text.ts'
import { placeText } from '../../../src/model/index.ts'
import type { TestCase, TestResult } from '../testing/test-result.ts'

/**
 * How assertions came out, as the XML that continuous integration reads from JUnit: one suite, named after what was tested.
 *
 * @example
 * await writeFile('policies.xml', junit(await testModel(model), 'network.yaml'))
 */
export function junit({ cases, failed }: TestResult, suite: string): string {
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites tests="${cases.length}" failures="${failed}">`,
    `  <testsuite name="${escaped(suite)}" tests="${cases.length}" failures="${failed}" errors="0" skipped="0">`,
    ...cases.map((one) => testcase(one, suite)),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

function testcase({ name, passed, place, text }: TestCase, suite: string): string {
  const attributes = `classname="${escaped(suite)}" name="${escaped(name)}" file="${escaped(place.file)}"`
  const where = place.line === undefined ? attributes : `${attributes} line="${place.line}"`
  if (passed) return `    <testcase ${where}/>`
  const lines = text.split('\n').map(escaped)
  const failure = `<failure message="${escaped(`${placeText(place)}: `)}${lines[0]}">${lines.join('\n')}</failure>`
  return `    <testcase ${where}>${failure}</testcase>`
}

/** One line; what XML does not allow at all is left out. */
function escaped(text: string): string {
  const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
  return visibleLine(text)
    .replace(/[^\t\n\r\p{L}\p{M}\p{N}\p{P}\p{S}\p{Z}]/gu, '')
    .replace(/[&<>"]/g, (mark) => entities[mark] ?? '')
}
