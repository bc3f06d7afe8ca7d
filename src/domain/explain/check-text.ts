import { instant } from '../instant.ts'
import type { CheckExplanation } from './explanation.ts'
import type { MissingPosture } from './missing-posture.ts'
import { listed, quoted } from './words.ts'

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
  if (typeId === 'MFA') return ''
  const items: readonly unknown[] = Array.isArray(expected) ? expected : [expected]
  return listed(items.map(itemText), 'or')
}

/** A domain or address as it is, an operating system with its versions, a process by its path. */
function itemText(item: unknown): string {
  if (typeof item !== 'object' || item === null) return quoted(String(item))
  if ('path' in item) return `the process ${quoted(String(item.path))}`
  if (!('type' in item) || !('versions' in item)) return 'something else'
  const versions = Array.isArray(item.versions) ? item.versions.map(String) : []
  return versions.length === 0 ? String(item.type) : `${String(item.type)} ${listed(versions, 'or')}`
}

function missingText({ kind, path }: MissingPosture, { known }: CheckExplanation): string {
  const process = path === undefined ? '' : `the process ${quoted(path)} `
  switch (kind) {
    case 'not-reported':
      return path === undefined ? 'nothing was reported' : `${process}was not reported`
    case 'value-not-admitted':
      return `${knownText(known)} was reported`
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

function knownText(known: CheckExplanation['known']): string {
  if (Array.isArray(known)) return known.length === 0 ? 'none' : listed(known.map((item) => quoted(String(item))))
  if (typeof known !== 'object' || known === null) return quoted(String(known))
  return 'type' in known && 'version' in known ? quoted(`${known.type} ${known.version}`) : 'something else'
}
