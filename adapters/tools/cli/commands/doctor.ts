import { grouped } from '../../../../src/base/collections.ts'
import { fewOf, visibleLine } from '../../../../src/base/text.ts'
import { DAY_MS } from '../../../../src/base/time.ts'
import type { NetworkFinding } from '../../../../src/index.ts'
import { type Answer, type CommandCall, defineCommand, EXIT_NO } from '../command-line/command.ts'
import { UsageError } from '../command-line/usage.ts'
import { DEFAULT_STORAGE, STORAGE_OPTIONS, withOperator } from '../input/open-storage.ts'
import type { Style } from '../output.ts'
import { latestCopyIn } from './backup/run-backups.ts'
import { examineCertificates, examineKeys, type Finding } from './examine-certificates.ts'
import { examinePostgres } from './examine-postgres.ts'
import { keyExchangeFinding } from './examine-runtime.ts'
import { withConfigFile } from './serve/config-file.ts'
import { readPkiSource } from './serve/limit-options.ts'
import { CERTIFICATE_FILE_OPTIONS, SERVE_OPTIONS } from './serve/option-declarations.ts'

/** `portcullis doctor`. */
export const DOCTOR = defineCommand({
  options: {
    ...STORAGE_OPTIONS,
    pki: { value: 'DIR', variable: true, summary: 'folder of certificates and keys; default .portcullis/pki' },
    ...CERTIFICATE_FILE_OPTIONS,
    config: SERVE_OPTIONS.config,
    advertise: SERVE_OPTIONS.advertise,
    backups: {
      value: 'DIR',
      summary: 'a folder of portcullis backup run: warn when its latest copy is older than two days',
    },
    'within-days': { value: 'DAYS', summary: 'warn of certificates that expire so soon; default 30' },
    all: { summary: 'tell each finding by itself, however many there are of one kind' },
    repair: { summary: 'restore what every network has, and take references to nothing out' },
    'delete-damaged': { summary: 'delete other records that cannot be read, each of which is named; with --repair' },
  },
  hasJson: true,
  details: `Looks at the certificates and keys (expired or soon, not valid yet, not belonging to each other, readable by others, not
for the address of --advertise), the certificates of identities and routers (whose have ended, end soon, or are not of the latest authority yet), the
storage (whole, with an administrator who can log in), the settings of a PostgreSQL server (by which it keeps what it acknowledged,
a failover included), the clock (behind what is stored), webhooks (dead letters), and the network (policies that select
nothing, services without edge routers). More than five findings of one kind are told in one line, and by --all each by itself. Reads only, and the storage may be served. --config takes the file of
portcullis serve, so that it looks at what is served.

With --repair, what every network has (the auth policy 'default', identity types, posture check types, built-in config types)
becomes what a new network has as far as it cannot be read, and references to nothing go; everything that becomes of a record
is told. The restored policy lets passwords, certificates and tokens in without a second factor: look at it before it is used.
Other records that cannot be read stay as they are, unless --delete-damaged is given as well. A SQLite file is copied first.`,
  examples: [
    'portcullis doctor',
    'portcullis doctor --config /etc/portcullis/portcullis.yaml --backups /backup',
    'portcullis doctor --repair',
    'portcullis doctor --storage postgres://db/net --pki /etc/portcullis/pki --json',
  ],
  exitCodes: { 0: 'nothing is wrong; there may be warnings', [EXIT_NO]: 'something is wrong' },
  run: async (call) => examine({ ...call, options: await withConfigFile(call.options, call.environment) }),
})

/** Days after which a backup is too old: a daily backup may be late once. */
const OLD_DAYS = 2

type DoctorOption =
  | keyof typeof STORAGE_OPTIONS
  | keyof typeof CERTIFICATE_FILE_OPTIONS
  | 'pki'
  | 'config'
  | 'advertise'
  | 'backups'
  | 'within-days'
  | 'all'
  | 'repair'
  | 'delete-damaged'

/** Looks for problems. Throws {@link UsageError} for a storage that cannot be read. */
async function examine({ options, terminal }: CommandCall<DoctorOption>): Promise<Answer> {
  const days = options.typed('within-days') ?? '30'
  if (!/^\d{1,5}$/.test(days)) throw new UsageError(`--within-days takes a whole number, not '${days}'`)
  const deletesDamaged = options.flag('delete-damaged')
  if (deletesDamaged && !options.flag('repair')) throw new UsageError('--delete-damaged goes with --repair')
  const repairs = options.flag('repair') ? await repair(options, deletesDamaged) : []
  const storage = options.setting('storage') ?? { name: '--storage', value: DEFAULT_STORAGE }
  const moment = { now: Date.now(), soonMs: Number(days) * DAY_MS }
  const pki = readPkiSource(options)
  const keys = await examineKeys(options, pki, moment)
  const findings = [
    ...repairs,
    ...(await examineCertificates(pki, storage, moment, keys.replaced)),
    ...keys.findings,
    keyExchangeFinding(process.versions.openssl),
    ...(await examineBackups(options.setting('backups')?.value, moment.now)),
    ...(await examinePostgres(options)),
    ...(await examineStorage(options, options.flag('all'))),
  ]
  const isWrong = findings.some(({ level }) => level === 'wrong')
  const text = findings.map((finding) => lineOf(finding, terminal.style)).join('\n')
  return { text, value: findings, code: isWrong ? EXIT_NO : 0 }
}

/** Finds backups that are not made any more. Throws {@link UsageError} for a folder that is not there. */
async function examineBackups(folder: string | undefined, now: number): Promise<readonly Finding[]> {
  if (folder === undefined) return []
  const latest = await latestCopyIn(folder).catch((error: unknown) => {
    throw new UsageError(`--backups: ${folder} cannot be read`, { cause: error })
  })
  if (latest === undefined)
    return [{ level: 'wrong', about: 'backups', text: `${folder} holds no copy of portcullis backup run` }]
  const days = Math.floor((now - latest.madeAt.getTime()) / DAY_MS)
  const level = days >= OLD_DAYS ? 'warning' : 'ok'
  return [
    {
      level,
      about: 'backups',
      text: `the latest copy is ${latest.name}, ${days === 0 ? 'of the last 24 hours' : `${days} days old`}`,
    },
  ]
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

/** Findings of one kind that are reported one by one; more are summed up in one line. */
const MOST_ALIKE = 5

function examineStorage(options: Parameters<typeof withOperator>[0], all: boolean): Promise<readonly Finding[]> {
  return withOperator(options, async (operator) => {
    const damages = await operator.checkIntegrity()
    const few = all ? Infinity : MOST_ALIKE
    const alike = grouped(await operator.findings(), ({ kind }) => kind)
    const network = [...alike].flatMap(([kind, found]) => networkFindings(kind, found, few))
    const undelivered = (await operator.undelivered()).map(
      ({ webhook, dead }): Finding => ({
        level: 'warning',
        about: 'webhooks',
        text: `${webhook} has ${dead} dead ${dead === 1 ? 'letter' : 'letters'}: portcullis webhooks resend sends them again`,
      }),
    )
    return [
      ...undelivered,
      ...damages.slice(0, few).map((text): Finding => ({ level: 'wrong', about: 'storage', text })),
      ...(damages.length > few
        ? [{ level: 'wrong', about: 'storage', text: `${damages.length - few} more like these: ${LISTS_ALL}` } as const]
        : []),
      ...(damages.length > 0 ? [] : [{ level: 'ok', about: 'storage', text: 'every record is whole' } as const]),
      ...network,
      ...(network.length > 0
        ? []
        : [{ level: 'ok', about: 'network', text: 'every policy selects something' } as const]),
    ]
  })
}

const LISTS_ALL = 'portcullis doctor --all lists them'

/** The findings of one kind: each by itself, or all in one line beyond a few. */
function networkFindings(
  kind: NetworkFinding['kind'],
  found: readonly NetworkFinding[],
  few: number,
): readonly Finding[] {
  const level = kind === 'no-administrator' || kind === 'clock-behind' ? 'wrong' : 'warning'
  const told = (text: string): Finding => ({ level, about: 'network', text })
  if (found.length <= few) return found.map(({ text }) => told(text))
  const names = fewOf(
    found.map(({ name, text }) => name ?? text),
    few,
  )
  const what =
    kind === 'service-without-routers'
      ? 'services have no edge router: no service edge router policy selects one for them'
      : 'policies select nothing on one side or both'
  return [told(`${found.length} ${what} (${names}); ${LISTS_ALL}`)]
}

function lineOf({ level, about, text }: Finding, style: Style): string {
  const colour = ({ ok: 'green', warning: 'yellow', wrong: 'red' } as const)[level]
  return `${style(colour, level.padEnd(7))}  ${about}: ${visibleLine(text)}`
}
