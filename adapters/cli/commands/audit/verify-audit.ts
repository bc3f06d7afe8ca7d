import type { AuditFinding, AuditTampering } from '../../../../src/index.ts'
import { type Answer, type CommandCall, EXIT_NO } from '../../command-line/command.ts'
import { UsageError } from '../../command-line/usage.ts'
import { withOperator } from '../../input/open-storage.ts'
import type { STORAGE_OPTIONS } from '../../input/storage-options.ts'

/** Verifies the chain of a storage. Throws {@link UsageError}. */
export function verifyAudit({ options }: CommandCall<keyof typeof STORAGE_OPTIONS | 'head'>): Promise<Answer> {
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

function textOf({ tampering, records, seals, unsealed, removed, head }: AuditFinding): string {
  if (tampering !== null)
    return `${sentenceOf(tampering)}\n${records} records in ${seals} seals before it are as they were`
  return [
    `${records} records in ${seals} seals are as they were; the head is ${head.number}:${head.hash}`,
    ...(unsealed > 0 ? [`${unsealed} are not sealed yet`] : []),
    ...(removed > 0 ? [`${removed} earlier ones were removed by age or for room`] : []),
  ].join('\n')
}

const SENTENCES: Readonly<Record<AuditTampering['what'], string>> = {
  'record-altered': 'was altered',
  'record-removed': 'was removed',
  'record-added': 'was added afterwards',
  'seal-altered': 'was altered',
  'seal-removed': 'was removed',
  'chain-cut': 'is missing: the chain was cut off before it',
  'other-chain': 'is not the one of the head: the chain was written anew',
}

function sentenceOf({ what, record, seal }: AuditTampering): string {
  const named =
    record === null ? `the seal ${seal}` : `the record ${record}${seal === null ? '' : ` of the seal ${seal}`}`
  return `${named} ${SENTENCES[what]}`
}
