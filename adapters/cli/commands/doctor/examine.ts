import { visibleLine } from '../../../../src/base/text.ts'
import { type Answer, type CommandCall, EXIT_NO } from '../../command-line/command.ts'
import { UsageError } from '../../command-line/usage.ts'
import type { CERTIFICATE_FILE_OPTIONS } from '../../input/certificate-file-options.ts'
import { DEFAULT_STORAGE, withOperator } from '../../input/open-storage.ts'
import type { STORAGE_OPTIONS } from '../../input/storage-options.ts'
import type { Style } from '../../output.ts'
import { readPkiSource } from '../serve/limit-options.ts'
import { examineCertificates, type Finding } from './examine-certificates.ts'

const DAY_MS = 24 * 60 * 60 * 1000

type DoctorOption =
  | keyof typeof STORAGE_OPTIONS
  | keyof typeof CERTIFICATE_FILE_OPTIONS
  | 'pki'
  | 'within-days'
  | 'repair'
  | 'delete-damaged'

/** Looks for what is wrong. Throws {@link UsageError} for a storage that cannot be looked at. */
export async function examine({ options, terminal }: CommandCall<DoctorOption>): Promise<Answer> {
  const days = options.typed('within-days') ?? '30'
  if (!/^\d{1,5}$/.test(days)) throw new UsageError(`--within-days takes a whole number, not '${days}'`)
  const deletesDamaged = options.flag('delete-damaged')
  if (deletesDamaged && !options.flag('repair')) throw new UsageError('--delete-damaged goes with --repair')
  const repairs = options.flag('repair') ? await repair(options, deletesDamaged) : []
  const storage = options.setting('storage') ?? { name: '--storage', value: DEFAULT_STORAGE }
  const findings = [
    ...repairs,
    ...(await examineCertificates(readPkiSource(options), storage, {
      now: Date.now(),
      soonMs: Number(days) * DAY_MS,
    })),
    ...(await examineStorage(options)),
  ]
  const isWrong = findings.some(({ level }) => level === 'wrong')
  const text = findings.map((finding) => lineOf(finding, terminal.style)).join('\n')
  return { text, value: findings, code: isWrong ? EXIT_NO : 0 }
}

/** Repairs records that cannot stay as they are; the rest is found as usual afterwards. */
function repair(options: Parameters<typeof withOperator>[0], deletesDamaged: boolean): Promise<readonly Finding[]> {
  return withOperator(options, async (operator) => {
    const repairs = await operator.repair({ deletesDamaged })
    return repairs.flatMap(({ description, outcome, note }): readonly Finding[] => {
      const text = `${outcome}: ${description}${note === undefined ? '' : ` (${note})`}`
      if (outcome !== 'left') return [{ level: 'warning', about: 'storage', text }]
      return note === undefined ? [] : [{ level: 'wrong', about: 'storage', text }]
    })
  })
}

function examineStorage(options: Parameters<typeof withOperator>[0]): Promise<readonly Finding[]> {
  return withOperator(options, async (operator) => {
    const damages = await operator.checkIntegrity()
    const odd = await operator.findings()
    const network = odd.map(({ kind, text }): Finding => {
      const isWrong = kind === 'no-administrator' || kind === 'clock-behind'
      return { level: isWrong ? 'wrong' : 'warning', about: 'network', text }
    })
    return [
      ...damages.map((text): Finding => ({ level: 'wrong', about: 'storage', text })),
      ...(damages.length > 0 ? [] : [{ level: 'ok', about: 'storage', text: 'every record is whole' } as const]),
      ...network,
      ...(network.length > 0
        ? []
        : [{ level: 'ok', about: 'network', text: 'every policy selects something' } as const]),
    ]
  })
}

function lineOf({ level, about, text }: Finding, style: Style): string {
  const colour = ({ ok: 'green', warning: 'yellow', wrong: 'red' } as const)[level]
  return `${style(colour, level.padEnd(7))}  ${about}: ${visibleLine(text)}`
}
