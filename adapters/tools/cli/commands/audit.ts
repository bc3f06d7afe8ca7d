import { LARGEST_PAGE } from '../../../../src/base/limits.ts'
import type {
  AuditEntry,
  AuditFinding,
  AuditPage,
  AuditRequest,
  AuditTampering,
  UndoPlan,
} from '../../../../src/index.ts'
import { type Answer, type CommandCall, defineCommand, EXIT_NO } from '../command-line/command.ts'
import { UsageError } from '../command-line/usage.ts'
import { CONNECTION_DETAILS, CONNECTION_OPTIONS, withConnection } from '../connection/connect.ts'
import { readsStorage, STORAGE_OPTIONS, withOperator } from '../input/open-storage.ts'
import { followStorage, followStream, type ReadAudit } from './follow-audit.ts'

/** The options of `portcullis audit`. */
export const AUDIT_OPTIONS = {
  ...CONNECTION_OPTIONS,
  ...STORAGE_OPTIONS,
  entity: { value: 'ID', summary: 'records about this entity alone' },
  actor: { value: 'ID', summary: 'the changes of this identity alone' },
  filter: { value: 'FILTER', summary: 'a condition on id, at, type, kind, entityId and actorId' },
  limit: { value: 'COUNT', summary: 'how many records, the latest first; default 50' },
  lines: { summary: 'every record as a line of JSON, the earliest first' },
  after: { value: 'ID', summary: 'with --lines or --follow: records after this one' },
  follow: { summary: 'every record from now on as a line of JSON, as it is written, until it is stopped' },
} as const

/** `portcullis audit`. */
export const AUDIT = defineCommand({
  options: AUDIT_OPTIONS,
  hasJson: true,
  details: `Beside a folder .portcullis, or with --storage, it reads the storage itself, served or not. With --url or --profile it
asks a running controller, which tells what the login may read. ${CONNECTION_DETAILS}`,
  examples: [
    'portcullis audit --limit 20',
    `portcullis audit --filter 'type = "login.refused"'`,
    `portcullis audit --follow --filter 'type = "login.refused"'`,
    'portcullis audit --lines --after 000000000000000042000000 > audit.jsonl',
  ],
  run: tellAudit,
})

/** `portcullis audit verify`. */
export const AUDIT_VERIFY = defineCommand({
  options: {
    ...STORAGE_OPTIONS,
    head: { value: 'NUMBER:HASH', summary: 'a head that was kept elsewhere, as portcullis audit head prints it' },
  },
  hasJson: true,
  details: `Reads every record and every seal of a storage, served or not, and writes nothing. Whoever can write to the storage can
make the whole chain anew: a head that was kept elsewhere shows that. Records of about the last second are not sealed yet.`,
  examples: ['portcullis audit verify', 'portcullis audit verify --storage postgres://db/net --head 812:9f3c…'],
  exitCodes: { 0: 'every record is as it was written', [EXIT_NO]: 'something was altered, removed or added' },
  run: verifyAudit,
})

/** `portcullis audit undo`. */
export const AUDIT_UNDO = defineCommand({
  operands: 'ID',
  options: {
    ...CONNECTION_OPTIONS,
    ...STORAGE_OPTIONS,
    apply: { summary: 'take it back; without it nothing is written' },
  },
  hasJson: true,
  details: `Tells how the change of an audit record would be taken back in the network as it is now: which fields, and who would gain or
lose access. What was changed later stays, and an entity that was changed after its creation is not deleted. Secrets, credentials
and what the controller writes by itself do not come back. With --apply it is done as planned, unless the entity is changed in
between. ${CONNECTION_DETAILS}`,
  examples: [
    'portcullis audit undo 000000000000000042000000',
    'portcullis audit undo 000000000000000042000000 --apply',
  ],
  exitCodes: { 0: 'it can be taken back, or was', [EXIT_NO]: 'it cannot be taken back' },
  run: undoChange,
})

/** `portcullis audit head`. */
export const AUDIT_HEAD = defineCommand({
  options: CONNECTION_OPTIONS,
  hasJson: true,
  details: `Prints NUMBER:HASH of the last seal; with --json also a JSON Web Token of it by the key of the server certificate.
${CONNECTION_DETAILS}`,
  examples: ['portcullis audit head >> heads.txt'],
  run: tellHead,
})

type AuditCall = CommandCall<keyof typeof AUDIT_OPTIONS>

/** Prints records of the audit trail, from a storage or of a running controller. Throws {@link UsageError}. */
function tellAudit(call: AuditCall): Promise<Answer | number> {
  if (call.options.typed('after') !== undefined && !call.options.flag('lines') && !call.options.flag('follow')) {
    throw new UsageError('--after is for --lines and --follow')
  }
  if (readsStorage(call))
    return withOperator(call.options, (operator) => {
      const read: ReadAudit = (request) => operator.readAudit(request)
      return printAudit(call, read, (asked) => followStorage(call.terminal, read, asked, call.options.typed('after')))
    })
  return withConnection(call, (connection) => {
    const read: ReadAudit = async (query) => (await connection.portcullis.call('GET /audit', { query })).data
    return printAudit(call, read, (asked) =>
      followStream(call.terminal, connection, asked, call.options.typed('after')),
    )
  })
}

async function printAudit(
  call: AuditCall,
  read: ReadAudit,
  follow: (asked: AuditRequest) => Promise<never>,
): Promise<Answer | number> {
  const { options, terminal } = call
  const asked = Object.fromEntries(
    (['entity', 'actor', 'filter'] as const).flatMap((name) => {
      const value = options.typed(name)
      return value === undefined ? [] : [[name, value]]
    }),
  )
  if (options.flag('follow')) return follow(asked)
  if (options.flag('lines')) {
    let after: string | null = options.typed('after') ?? ''
    while (after !== null) {
      const page: AuditPage = await read({ ...asked, after, limit: LARGEST_PAGE })
      for (const entry of page.entries) terminal.print(JSON.stringify(entry))
      after = page.next
    }
    return 0
  }
  const entries = await latest(read, asked, countOf(options.typed('limit') ?? '50'))
  const text = entries.length === 0 ? 'no records' : entries.map(lineOf).join('\n')
  return { text, value: entries }
}

async function latest(read: ReadAudit, asked: AuditRequest, count: number): Promise<readonly AuditEntry[]> {
  const entries: AuditEntry[] = []
  let before: string | undefined
  while (entries.length < count) {
    const limit = Math.min(LARGEST_PAGE, count - entries.length)
    const page = await read({ ...asked, limit, ...(before !== undefined && { before }) })
    entries.push(...page.entries)
    if (page.next === null) break
    before = page.next
  }
  return entries
}

function countOf(text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text)
  throw new UsageError(`--limit takes a number from 1 on, not '${text}'`)
}

/** A record in one line: the time, the actor with its address, and the action. */
function lineOf({ at, type, entity, actor, author, remoteAddress, reason, changes, facts }: AuditEntry): string {
  const who = actor?.name ?? actor?.id ?? author?.name ?? author?.by ?? 'somebody'
  const what = entity === null ? '' : ` ${entity.kind} ${entity.name ?? entity.id}`
  const fields = Object.keys(changes)
  const further = [
    ...(fields.length > 0 ? [fields.join(', ')] : []),
    ...(reason === null ? [] : [reason]),
    ...(Object.keys(facts).length > 0 ? [JSON.stringify(facts)] : []),
  ].join('; ')
  const from = remoteAddress === null ? '' : ` from ${remoteAddress}`
  return `${at}  ${type}${what}  by ${who}${from}${further === '' ? '' : `  (${further})`}`
}

/** Plans to take a change back, and does so where it is asked to. Throws {@link UsageError}. */
function undoChange(call: CommandCall<UndoOption>): Promise<Answer> {
  const [id, ...others] = call.operands
  if (id === undefined || others.length > 0) throw new UsageError('audit undo takes the ID of one audit record')
  if (readsStorage(call))
    return withOperator(call.options, (operator) =>
      undone(
        call,
        () => operator.planUndo(id),
        (tag) => operator.undo(id, tag),
      ),
    )
  const params = { id }
  return withConnection(call, ({ portcullis }) =>
    undone(
      call,
      async () => (await portcullis.call('GET /audit/{id}/undo', { params })).data,
      async (tag) =>
        (await portcullis.call('POST /audit/{id}/undo', { params, headers: { 'if-match': `"${tag}"` } })).data,
    ),
  )
}

type UndoOption = keyof typeof CONNECTION_OPTIONS | keyof typeof STORAGE_OPTIONS | 'apply'

async function undone(
  { options }: CommandCall<UndoOption>,
  plan: () => Promise<UndoPlan>,
  apply: (tag: string) => Promise<UndoPlan>,
): Promise<Answer> {
  const planned = await plan()
  if (planned.action === null) return { text: planned.text, value: planned, code: EXIT_NO }
  if (!options.flag('apply')) return { text: `${planned.text}\nNothing was written: --apply does it.`, value: planned }
  const made = await apply(planned.tag)
  return { text: made.text, value: made }
}

/** Prints the signed head of a running controller. */
function tellHead(call: CommandCall<keyof typeof CONNECTION_OPTIONS>): Promise<Answer> {
  return withConnection(call, async ({ portcullis }) => {
    const { data } = await portcullis.call('GET /audit/head')
    return { text: `${data.number}:${data.hash}`, value: data }
  })
}

/** Verifies the chain of a storage. Throws {@link UsageError}. */
function verifyAudit({ options }: CommandCall<keyof typeof STORAGE_OPTIONS | 'head'>): Promise<Answer> {
  const head = readHead(options.typed('head'))
  return withOperator(options, async (operator) => {
    const finding = await operator.verifyAudit(head)
    return { text: textOf(finding), value: finding, code: finding.isWhole ? 0 : EXIT_NO }
  })
}

function readHead(text: string | undefined): { readonly number: number; readonly hash: string } | undefined {
  if (text === undefined) return undefined
  const [, number, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? []
  if (hash === undefined) throw new UsageError(`--head takes NUMBER:HASH, as portcullis audit head prints it`)
  return { number: Number(number), hash }
}

function textOf({ tampering, records, seals, unsealed, ...finding }: AuditFinding): string {
  const { removed, removedSinceHead, since, head } = finding
  if (tampering !== null)
    return `${sentenceOf(tampering)}\n${records} records in ${seals} seals before it are as they were`
  return [
    `${records} records in ${seals} seals are as they were; the head is ${head.number}:${head.hash}`,
    ...(unsealed > 0 ? [`${unsealed} are not sealed yet`] : []),
    ...(removed > 0 ? [`${removed} earlier ones were removed by age or for room; the trail begins at ${since}`] : []),
    ...(removedSinceHead ? [`${removedSinceHead} of them were removed after the head was made`] : []),
  ].join('\n')
}

const SENTENCES: Readonly<Record<AuditTampering['what'], string>> = {
  'record-altered': 'was altered',
  'record-removed': 'was removed',
  'record-added': 'was added afterwards',
  'record-unsealed': 'was kept from being sealed',
  'seal-altered': 'was altered',
  'seal-removed': 'was removed',
  'seal-added': 'was added afterwards',
  'state-altered': 'was altered or removed',
  'trail-removed': 'is empty although there are identities: it was removed, or the network is of a version without one',
  'chain-cut': 'is missing: the chain was cut off before it',
  'head-removed':
    'of the head is gone, and so is the next: nothing says that this is the same chain. Keep a later head',
  'other-chain': 'is not the one of the head: the chain was written anew',
}

function sentenceOf({ what, record, seal }: AuditTampering): string {
  if (what === 'trail-removed') return `the trail ${SENTENCES[what]}`
  if (what === 'state-altered') return `the record of how far the chain goes ${SENTENCES[what]}`
  const named =
    record === null
      ? seal === null
        ? 'a seal'
        : `the seal ${seal}`
      : `the record ${record}${seal === null ? '' : ` of the seal ${seal}`}`
  return `${named} ${SENTENCES[what]}`
}
