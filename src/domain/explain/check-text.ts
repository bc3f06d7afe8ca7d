import { kindOf, type MissingPosture } from '../posture/index.ts'
import { listed, quoted } from '../sentences.ts'
import { instant } from '../time/instant.ts'
import type { CheckExplanation } from './explanation.ts'

/** One posture check as sentences: whether it passes, what it asks for, what is known, what is missing. */
export function checkText(check: CheckExplanation): string {
  const { name, typeId, isPassing, holdsUntil, missing } = check
  const beginning = `The ${typeId} check ${quoted(name)} ${isPassing ? 'passes' : 'fails'}`
  if (isPassing) {
    const end = holdsUntil === null ? '' : ` until ${instant(holdsUntil).toISOString()}`
    return `${beginning}${end}.`
  }
  const asks = expectedText(check)
  return `${beginning}: ${asks === '' ? '' : `it asks for ${asks}, but `}${listed(missing.map((one) => missingText(one, check)))}.`
}

function expectedText({ typeId, expected }: CheckExplanation): string {
  const words = kindOf(typeId).expectedWords(expected)
  return words.length === 0 ? '' : listed(words, 'or')
}

function missingText({ kind, path }: MissingPosture, { typeId, known }: CheckExplanation): string {
  const process = path === undefined ? '' : `the process ${quoted(path)} `
  switch (kind) {
    case 'not-reported':
      return path === undefined ? 'nothing was reported' : `${process}was not reported`
    case 'value-not-admitted':
      return `${known === null ? 'something else' : (kindOf(typeId).actualWords?.(known) ?? 'something else')} was reported`
    case 'process-not-running':
      return `${process}does not run`
    case 'process-hash-not-admitted':
      return `${process}has another hash`
    case 'process-signer-not-admitted':
      return `${process}has another signer`
    case 'mfa-not-passed':
      return 'no second factor was proved in the API session'
    case 'mfa-timed-out':
      return 'the second factor timed out'
    case 'mfa-prompt-unanswered':
      return 'no second factor was proved after the endpoint was unlocked or woken'
  }
}
