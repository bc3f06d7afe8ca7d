import { jsonBytes } from '../../base/bytes.ts'
import { whatIsLeft } from '../../context/recorded-changes.ts'
import { reportedProcesses } from '../../facts/access/posture/posture-data.resource.ts'
import {
  MAX_REPORTED_PROCESSES,
  type ProcessReports,
  type ReportedProcess,
} from '../../facts/access/posture/rules/index.ts'
import { equals, ids } from '../../kernel/filter/index.ts'
import type { WriteTransaction } from '../../ports/record-storage.ts'
import { newRecord } from '../../records/read-records.ts'

/** Records that hold the processes of one identity: a report of one process writes an eighth of them. */
const PARTS = 8

/** Number of reports of an identity, and their bytes as JSON. */
export interface ProcessTotals {
  readonly processCount: number
  readonly processBytes: number
}

/** Processes in as many parts as there are records, each list by the key by which it is looked up. */
type Parts = ReadonlyMap<number, { readonly processes: ReportedProcess[]; readonly processesByPath: ReportedProcess[] }>

/** The processes in the parts that hold these checks and paths. */
export async function processesLike(
  tx: WriteTransaction,
  identityId: string,
  reports: readonly { readonly id: string; readonly path?: string | undefined }[],
): Promise<ProcessReports> {
  const parts = new Set(reports.flatMap(({ id, path = '' }) => [partOf(id), partOf(path)]))
  const where = ids([...parts].map((part) => idOf(identityId, part)))
  const { items } = await tx.collection(reportedProcesses).find({ where })
  return {
    processes: items.flatMap((record) => record.reports.processes),
    processesByPath: items.flatMap((record) => record.reports.processesByPath),
  }
}

/**
 * Keeps `after` in place of `before`, both whole parts, and answers the totals then. Beyond `mostBytes` in all, or as many
 * reports as are kept of an identity, the oldest go.
 */
export async function storeProcesses(
  tx: WriteTransaction,
  identityId: string,
  totals: ProcessTotals,
  [before, after]: readonly [ProcessReports, ProcessReports],
  mostBytes: number,
  now: number,
): Promise<ProcessTotals> {
  if (before.processes === after.processes && before.processesByPath === after.processesByPath) return totals
  const sizeBefore = totalsOf(before)
  const sizeAfter = totalsOf(after)
  const processCount = Math.max(0, totals.processCount - sizeBefore.processCount) + sizeAfter.processCount
  const processBytes = Math.max(0, totals.processBytes - sizeBefore.processBytes) + sizeAfter.processBytes
  if (processBytes > mostBytes || processCount > 2 * MAX_REPORTED_PROCESSES) {
    return letGo(tx, identityId, after, mostBytes, now)
  }
  await storeParts(tx, identityId, after, now)
  return { processCount, processBytes }
}

async function letGo(
  tx: WriteTransaction,
  identityId: string,
  after: ProcessReports,
  mostBytes: number,
  now: number,
): Promise<ProcessTotals> {
  const { items } = await tx.collection(reportedProcesses).find({ where: equals('identityId', identityId) })
  const changed = new Set([...inParts(after).keys()].map((part) => idOf(identityId, part)))
  const others = items.filter(({ id }) => !changed.has(id))
  const kept = youngest(
    {
      processes: [...others.flatMap(({ reports }) => reports.processes), ...after.processes],
      processesByPath: [...others.flatMap(({ reports }) => reports.processesByPath), ...after.processesByPath],
    },
    mostBytes,
  )
  const filled = new Set([...inParts(kept).keys()].map((part) => idOf(identityId, part)))
  for (const { id } of items) if (!filled.has(id)) await tx.collection(reportedProcesses).delete(id)
  await storeParts(tx, identityId, kept, now)
  return totalsOf(kept)
}

/** The youngest reports that fill nine tenths of `mostBytes`: with room to spare, not every report makes others go. */
export function youngest(reports: ProcessReports, mostBytes: number): ProcessReports {
  const all = LISTS.flatMap((list) => reports[list].map((report) => ({ report, list })))
  all.sort((a, b) => b.report.lastUpdatedAt - a.report.lastUpdatedAt)
  const kept: Record<(typeof LISTS)[number], ReportedProcess[]> = { processes: [], processesByPath: [] }
  let bytes = 0
  for (const { report, list } of all) {
    bytes += jsonBytes(report)
    if (bytes > mostBytes * 0.9) break
    if (kept[list].length < MAX_REPORTED_PROCESSES) kept[list].push(report)
  }
  return { processes: kept.processes.reverse(), processesByPath: kept.processesByPath.reverse() }
}

const LISTS = ['processes', 'processesByPath'] as const

/** Writes the parts that hold some reports. */
export async function storeParts(
  tx: WriteTransaction,
  identityId: string,
  reports: ProcessReports,
  now: number,
): Promise<void> {
  const collection = tx.collection(reportedProcesses)
  for (const [part, own] of inParts(reports)) {
    const id = idOf(identityId, part)
    const known = await whatIsLeft(() => collection.get(id))
    if (known === undefined) await collection.insert(newRecord(id, now, { identityId, reports: own }))
    else await collection.update({ ...known, reports: own, updatedAt: now })
  }
}

function inParts({ processes, processesByPath }: ProcessReports): Parts {
  const parts = new Map<number, { processes: ReportedProcess[]; processesByPath: ReportedProcess[] }>()
  const partFor = (key: string) => {
    const part = partOf(key)
    const known = parts.get(part) ?? { processes: [], processesByPath: [] }
    parts.set(part, known)
    return known
  }
  for (const process of processes) partFor(process.postureCheckId).processes.push(process)
  for (const process of processesByPath) partFor(process.path).processesByPath.push(process)
  return parts
}

export function totalsOf({ processes, processesByPath }: ProcessReports): ProcessTotals {
  const all = [...processes, ...processesByPath]
  return { processCount: all.length, processBytes: all.reduce((sum, process) => sum + jsonBytes(process), 0) }
}

function idOf(identityId: string, part: number): string {
  return `${identityId} ${part}`
}

/** Spreads keys evenly (FNV-1a). */
function partOf(key: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < key.length; at += 1) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193)
  return (hash >>> 0) % PARTS
}
