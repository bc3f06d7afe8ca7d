import type { VectorEvent } from '../../scripts/posture-vectors.ts'

// biome-ignore lint/suspicious/noExplicitAny: checks of every type are looked into.
type Fields = any

const hex = (text: string) => text.toLowerCase().replaceAll(/[^0-9a-f]/g, '')

/** Whether a posture check passes `at` seconds after the log-in: looks through everything that happened, each time anew. */
export function passesNaively(check: Fields, events: readonly VectorEvent[], at: number): boolean {
  const reports = events.flatMap((event) => ('report' in event ? [event] : []))
  const last = (member: 'os' | 'domain' | 'macAddresses'): Fields =>
    reports.map(({ report }) => report[member]).findLast((value) => value !== undefined)
  const runs = (asked: Fields, signers: readonly string[]) => {
    const seen = reports.flatMap(({ report }) => report.processes ?? []).findLast(({ path }) => path === asked.path)
    if (seen === undefined || seen.isRunning === false) return false
    const isHash = asked.hashes.length === 0 || asked.hashes.map(hex).includes(hex(seen.hash ?? ''))
    const shown = (seen.signerFingerprints ?? []).map(hex)
    return isHash && (signers.length === 0 || signers.some((signer) => shown.includes(hex(signer))))
  }
  switch (check.typeId) {
    case 'DOMAIN':
      return check.domains.some((domain: string) => domain.toLowerCase() === last('domain')?.toLowerCase())
    case 'MAC':
      return check.macAddresses.some((asked: string) => last('macAddresses')?.map(hex).includes(hex(asked)) ?? false)
    case 'OS': {
      const known = last('os')
      const asked = check.operatingSystems.find(({ type }: Fields) => type.toLowerCase() === known?.type.toLowerCase())
      if (asked === undefined) return false
      return asked.versions.length === 0 || asked.versions.some((range: string) => isWithin(known.version, range))
    }
    case 'PROCESS':
      return runs(check.process, check.process.signerFingerprint ? [check.process.signerFingerprint] : [])
    case 'PROCESS_MULTI': {
      const running = check.processes.filter((one: Fields) => runs(one, one.signerFingerprints)).length
      return check.semantic === 'AllOf' ? running === check.processes.length && running > 0 : running > 0
    }
    default: {
      const passed = events.findLast((event) => 'secondFactor' in event)?.at
      if (passed === undefined || (check.timeoutSeconds > 0 && at >= passed + check.timeoutSeconds)) return false
      const isAsked = ({ report }: Fields) =>
        (check.promptOnWake && report.isWoken) || (check.promptOnUnlock && report.isUnlocked)
      return reports.every((event) => !isAsked(event) || event.at < passed || at < event.at + 300)
    }
  }
}

/** Ranges of whole versions with `<` and `>=` alone. */
function isWithin(version: string, range: string): boolean {
  const numbers = (text: string) => text.split(/[.-]/).slice(0, 3).map(Number)
  const isBelow = (other: string) => {
    const [a, b] = [numbers(version), numbers(other)]
    const at = a.findIndex((number, position) => number !== b[position])
    return at >= 0 && Number(a[at]) < Number(b[at])
  }
  if (!/^\d/.test(version)) return false
  return range.split('||').some((alternative) =>
    alternative
      .trim()
      .split(' ')
      .every((word) => (word.startsWith('>=') ? !isBelow(word.slice(2)) : isBelow(word.slice(1)))),
  )
}
