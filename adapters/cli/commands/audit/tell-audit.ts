import type { AuditEntry, AuditPage, AuditRequest } from '../../../../src/index.ts'
import type { Answer, CommandCall } from '../../command-line/command.ts'
import { UsageError } from '../../command-line/usage.ts'
import { withConnection } from '../../connection/connect.ts'
import type { CONNECTION_OPTIONS } from '../../connection/connection-options.ts'
import { withOperator } from '../../input/open-storage.ts'
import { readsStorage } from '../explain-access.ts'
import type { AUDIT_OPTIONS } from './audit-options.ts'

type AuditCall = CommandCall<keyof typeof AUDIT_OPTIONS>
type Read = (request: AuditRequest) => Promise<AuditPage>

/** Records of one question. */
const PAGE = 500

/** Prints records of the audit trail, from a storage or of a running controller. Throws {@link UsageError}. */
export function tellAudit(call: AuditCall): Promise<Answer | number> {
  if (call.options.typed('after') !== undefined && !call.options.flag('lines')) {
    throw new UsageError('--after is for --lines')
  }
  if (readsStorage(call))
    return withOperator(call.options, (operator) => told(call, (request) => operator.readAudit(request)))
  return withConnection(call, ({ portcullis }) =>
    told(call, async (query) => (await portcullis.call('GET /audit', { query })).data),
  )
}

async function told(call: AuditCall, read: Read): Promise<Answer | number> {
  const { options, terminal } = call
  const asked = Object.fromEntries(
    (['entity', 'actor', 'filter'] as const).flatMap((name) => {
      const value = options.typed(name)
      return value === undefined ? [] : [[name, value]]
    }),
  )
  if (options.flag('lines')) {
    let after: string | null = options.typed('after') ?? ''
    while (after !== null) {
      const page: AuditPage = await read({ ...asked, after, limit: PAGE })
      for (const entry of page.entries) terminal.print(JSON.stringify(entry))
      after = page.next
    }
    return 0
  }
  const entries = await latest(read, asked, countOf(options.typed('limit') ?? '50'))
  const text = entries.length === 0 ? 'no records' : entries.map(lineOf).join('\n')
  return { text, value: entries }
}

async function latest(read: Read, asked: AuditRequest, count: number): Promise<readonly AuditEntry[]> {
  const entries: AuditEntry[] = []
  let before: string | undefined
  while (entries.length < count) {
    const limit = Math.min(PAGE, count - entries.length)
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

/** A record in one line: when, who from where, and what. */
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

/** Prints the signed head of a running controller. */
export function tellHead(call: CommandCall<keyof typeof CONNECTION_OPTIONS>): Promise<Answer> {
  return withConnection(call, async ({ portcullis }) => {
    const { data } = await portcullis.call('GET /audit/head')
    return { text: `${data.number}:${data.hash}`, value: data }
  })
}
