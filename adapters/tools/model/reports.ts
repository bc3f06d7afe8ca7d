import { visible, visibleLine } from '../../../src/base/text.ts'
import { type AccessChange, type PlannedChange, placeText } from '../../../src/model/index.ts'
import type { Plan, TestCase, TestResult } from '../../../src/planning/index.ts'

const MARKS = { create: '+', update: '~', delete: '-' } as const

/** Longer values are cut: certificates and schemas would bury the rest. */
const MOST_LETTERS = 120

/** How many pairs are shown. */
const MOST_PAIRS = 50

/**
 * A plan for people: each change with its members, the access that is gained and lost, and the assertions that would fail.
 *
 * @example
 * console.log(planText(await planModel(admin, model)))
 */
export function planText({ changes, unchanged, access, assertions }: Plan): string {
  const lines = changes.flatMap(changeLines)
  if (changes.length === 0) lines.push('Nothing to change.')
  lines.push('', countsText(changes, unchanged), ...accessLines(access))
  if (assertions.cases.length > 0) {
    const { failed, cases } = assertions
    const failing = { ...assertions, cases: cases.filter(({ passed }) => !passed) }
    const all = cases.length === 1 ? 'The assertion' : `All ${cases.length} assertions`
    lines.push('', failed === 0 ? `${all} would hold.` : testText(failing))
  }
  return lines.join('\n')
}

function changeLines(change: PlannedChange): readonly string[] {
  const first = `${MARKS[change.action]} ${change.key} '${visibleLine(change.name)}'`
  switch (change.action) {
    case 'create': {
      const members = Object.entries(change.body).filter(([member]) => member !== 'name')
      return [first, ...members.map(([member, value]) => `    ${visibleLine(member)}: ${valueText(value)}`)]
    }
    case 'update':
      return [
        first,
        ...change.members.map(
          ({ member, before, after }) => `    ${visibleLine(member)}: ${valueText(before)} -> ${valueText(after)}`,
        ),
      ]
    case 'delete':
      return [first]
  }
}

function valueText(value: unknown): string {
  if (value === undefined) return '(default)'
  const text = visible(JSON.stringify(value))
  return text.length <= MOST_LETTERS ? text : `${text.slice(0, MOST_LETTERS)}…`
}

function countsText(changes: readonly PlannedChange[], unchanged: number): string {
  const count = (action: PlannedChange['action']) => changes.filter((change) => change.action === action).length
  return `${count('create')} to create, ${count('update')} to update, ${count('delete')} to delete, ${unchanged} unchanged.`
}

function accessLines({ gained, lost, changes }: Plan['access']): readonly string[] {
  if (gained + lost === 0) return ['Nobody gains or loses access.']
  const shown = changes.slice(0, MOST_PAIRS).map(pairText)
  const rest = gained + lost - shown.length
  const more = rest > 0 ? [`  and ${rest} more`] : []
  return [`Access, posture aside: ${gained} gained, ${lost} lost.`, ...shown, ...more]
}

function pairText({ identity, service, type, change, policies }: AccessChange): string {
  const pair = `${identity} ${type.toLowerCase()}s ${service} (${policies.join(', ')})`
  return `  ${change === 'gained' ? '+' : '-'} ${visibleLine(pair)}`
}

/**
 * The results of assertions, for people: a line for each, with place and reason for each failure.
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

/**
 * The results of assertions, as JUnit's XML for continuous integration: one suite, named after the tested model.
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

/** One line; characters that XML forbids are left out. */
function escaped(text: string): string {
  const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
  return visibleLine(text)
    .replace(/[^\t\n\r\p{L}\p{M}\p{N}\p{P}\p{S}\p{Z}]/gu, '')
    .replace(/[&<>"]/g, (mark) => entities[mark] ?? '')
}

/**
 * How assertions came out, in the Test Anything Protocol, version 14.
 *
 * @example
 * process.stdout.write(tap(await testModel(model)))
 */
export function tap({ cases, notes }: TestResult): string {
  const lines = ['TAP version 14', `1..${cases.length}`, ...notes.map((note) => `# ${visibleLine(note)}`)]
  for (const [position, { name, passed, place, text }] of cases.entries()) {
    lines.push(`${passed ? 'ok' : 'not ok'} ${position + 1} - ${tapEscaped(name)}`)
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
function tapEscaped(name: string): string {
  return visibleLine(name.replaceAll('\\', '\\\\').replaceAll('#', '\\#'))
}
