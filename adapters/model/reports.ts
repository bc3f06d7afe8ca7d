import { visible, visibleLine } from '../../../src/domain/visible-text.ts'
import type { AccessChange, PlannedChange } from '../../../src/model/index.ts'
import type { Plan } from '../planning/plan-model.ts'
import { testText } from './test-text.ts'

const MARKS = { create: '+', update: '~', delete: '-' } as const

/** Longer values are cut: certificates and schemas would bury the rest. */
const MOST_LETTERS = 120

/** How many pairs are shown. */
const MOST_PAIRS = 50

/**
 * A plan for people: each change with its members, who gains and loses access, and the assertions that would fail.
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
    lines.push('', failed === 0 ? `All ${cases.length} assertions would hold.` : testText(failing))
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
