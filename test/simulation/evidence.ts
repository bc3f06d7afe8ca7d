import { openOperator } from 'portcullis'
import type { SimulatedProcess } from './simulated-process.ts'
import type { World } from './world.ts'

/** A change that an administrator asked for: the type of its audit record, and a text that stands in this record alone. */
export interface AskedChange {
  readonly type: string
  readonly mark: string
  /** `lost` until there is an answer. */
  outcome: 'lost' | 'acknowledged' | 'refused'
}

interface Entry {
  readonly id: string
  readonly type: string
  /** The id of its entity, and the values after it. */
  readonly text: string
}

/** The faults, at rest, of the audit trail, or of the events that a receiver took. */
export async function wrongEvidence(world: World, process: SimulatedProcess): Promise<string | undefined> {
  const entries = await entriesOf(process)
  return (
    countedWrongly(world.asked, entries) ??
    untoldOf(world, entries) ??
    toldInDisorder(world) ??
    toldTooOften(world) ??
    (await isUnproven(world))
  )
}

/** Every record of the audit trail, the latest first. */
export async function entriesOf(process: SimulatedProcess): Promise<readonly Entry[]> {
  const found: Entry[] = []
  for (let before: unknown = ''; before !== null; ) {
    const page = Object(await process.call('GET', `/portcullis/v1/audit?limit=500${before && `&before=${before}`}`))
    for (const { id, type, entity, changes } of Object.values<Record<string, unknown>>(Object(page.entries))) {
      const after = Object.values(Object(changes)).map((change) => Object(change).after)
      found.push({ id: String(id), type: String(type), text: JSON.stringify([Object(entity).id, after]) })
    }
    before = page.next
  }
  return found
}

const isOf = ({ type, mark }: AskedChange, entry: Entry): boolean =>
  entry.type === type && entry.text.includes(JSON.stringify(mark))

/** Each acknowledged change has one record, a lost one at most one, and a refused one none. */
function countedWrongly(asked: readonly AskedChange[], entries: readonly Entry[]): string | undefined {
  for (const change of asked) {
    const same = asked.filter(({ type, mark }) => type === change.type && mark === change.mark)
    const least = same.filter(({ outcome }) => outcome === 'acknowledged').length
    const most = same.filter(({ outcome }) => outcome !== 'refused').length
    const { length: count } = entries.filter((entry) => isOf(change, entry))
    if (count < least || count > most)
      return `audit: ${count} records of ${change.type} ${change.mark}, ${least} to ${most} are due`
  }
  return undefined
}

/** The receiver was told of every acknowledged change. */
function untoldOf({ asked, receiver }: World, entries: readonly Entry[]): string | undefined {
  const told = new Set(receiver.taken.map(({ id }) => id))
  const due = asked.filter(({ outcome }) => outcome === 'acknowledged')
  const untold = entries.find((entry) => !told.has(entry.id) && due.some((change) => isOf(change, entry)))
  return untold && `events: ${untold.type} ${untold.id} was not told`
}

/** Events of one entity come in order, repeated ones aside. */
function toldInDisorder({ receiver }: World): string | undefined {
  const latest = new Map<string, string>()
  const known = new Set<string>()
  for (const { id, subject } of receiver.taken) {
    if (known.has(id)) continue
    known.add(id)
    const before = latest.get(subject) ?? ''
    if (id < before) return `events: ${id} of ${subject} came after ${before}`
    latest.set(subject, id)
  }
  return undefined
}

/** An event comes again after an attempt that failed, or where a process was killed that had just delivered it. */
function toldTooOften({ receiver, faults }: World): string | undefined {
  const kills = (faults.get('process killed') ?? 0) + (faults.get('process killed after a commit') ?? 0)
  const counts = new Map<string, number>()
  for (const { id } of receiver.taken) counts.set(id, (counts.get(id) ?? 0) + 1)
  const [id, count] = [...counts].find(([one, times]) => times > 1 + receiver.failuresOf(one) + kills) ?? []
  return id && `events: ${id} came ${count} times`
}

/** The chain of the trail is whole, and its records explain every entity. An operator without certificates would issue some for each run. */
async function isUnproven({ shared, pki }: World): Promise<string | undefined> {
  const quiet = () => undefined
  const storage = { ...shared, close: async () => undefined }
  const operator = await openOperator({ storage, pki, logger: { info: quiet, warn: quiet, error: quiet } })
  try {
    const { isWhole, tampering, unsealed } = await operator.verifyAudit()
    if (!isWhole) return `audit: the chain is not whole, ${JSON.stringify(tampering)}`
    if (unsealed > 0) return `audit: ${unsealed} records have no seal`
    const { entities } = await operator.unexplained()
    return entities[0] && `audit: no record explains ${JSON.stringify(entities[0])}`
  } finally {
    await operator.close()
  }
}
