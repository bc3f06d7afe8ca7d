import { ControllerError } from '../../base/errors.ts'
import type { SystemCall } from '../../context/call.ts'
import type { EngineContext } from '../../context/context.ts'
import type { Resource } from '../../kernel/declaration/resource.ts'
import type { StoredRecord, WriteTransaction } from '../../ports/record-storage.ts'
import { deleteBatch } from '../../records/deletion.ts'
import { type WriteBatch, writeInBatches } from '../../records/write-batches.ts'
import { builtInFields, findInconsistencies, mend } from './data-integrity.ts'
import type { Damage, Inconsistency } from './inconsistency.ts'

/** The repair of a violation of the declarations. */
export interface StoreRepair {
  readonly description: string
  /**
   * `restored`: an unreadable record is as in a new network; `mended`: a dangling reference is gone, or the record that
   * cannot exist without it; `deleted`; `left` for a person to decide.
   */
  readonly outcome: 'restored' | 'mended' | 'deleted' | 'left'
  /** The fields that were left of a deleted record, or why it was not deleted. */
  readonly note?: string
}

/** How many violations are looked for at once. */
const AT_ONCE = 500

/**
 * Repairs a store that its operator gave up on. An unreadable record that every network has becomes that of a new network, dangling
 * references are removed, and other unreadable records are deleted where `deletesDamaged`. Where a storage makes snapshots, one is made
 * first. Readable fields of a record are never changed, and nothing is deleted without being asked for.
 */
export async function repairStore(
  context: EngineContext,
  call: SystemCall,
  deletesDamaged: boolean,
): Promise<readonly StoreRepair[]> {
  const { storage, turns } = context
  const done: StoreRepair[] = []
  let left: readonly StoreRepair[] = []
  for (let isFirst = true; ; isFirst = false) {
    const known = left.length
    const found = await storage.read((tx) => findInconsistencies(tx, known + AT_ONCE, turns))
    if (isFirst && found.length > 0) await storage.snapshot?.()
    const repairs: StoreRepair[] = []
    for (const one of found) repairs.push(await repaired(context, call, one, deletesDamaged))
    left = repairs.filter(({ outcome }) => outcome === 'left')
    done.push(...repairs.filter(({ outcome }) => outcome !== 'left'))
    // A deleted record may leave dangling references.
    if (left.length === repairs.length) return [...done, ...left]
  }
}

async function repaired(
  context: EngineContext,
  call: SystemCall,
  { description, repair, damage }: Inconsistency,
  deletesDamaged: boolean,
): Promise<StoreRepair> {
  try {
    if (repair !== undefined) return { description, outcome: (await mend(context, call, repair)) ? 'mended' : 'left' }
    if (damage === undefined) return { description, outcome: 'left' }
    if (await restore(context, call, damage)) return { description, outcome: 'restored' }
    if (!deletesDamaged) return { description, outcome: 'left' }
    const { resource, remains } = damage
    await writeInBatches(context, call, (tx: WriteTransaction, batch: WriteBatch) =>
      deleteBatch(tx, resource, remains.id, batch),
    )
    return { description, outcome: 'deleted', note: `left of it was ${readablePart(resource, remains)}` }
  } catch (error) {
    if (!(error instanceof ControllerError)) throw error
    return { description, outcome: 'left', note: error.details?.reason ?? error.message }
  }
}

/** Restores an unreadable record to that of a new network; answers whether a new network has it. */
async function restore({ writes, clock }: EngineContext, call: SystemCall, damage: Damage): Promise<boolean> {
  const { resource, remains, fields } = damage
  const builtIn = builtInFields(resource.name, remains.id)
  if (builtIn === undefined) return false
  const now = clock.now()
  const entries = fields.map((field) => [field, Reflect.get(builtIn, field) ?? freshValue(resource, field, now)])
  const whole = { ...resource.defaults, ...remains, ...Object.fromEntries(entries), updatedAt: now }
  // The unreadable fields get the values that the controller itself stores there.
  return writes.run(call, (tx) => tx.collection<StoredRecord>(resource).update(whole))
}

function freshValue({ defaults, fields }: Resource, field: string, now: number): unknown {
  if (field === 'tags') return {}
  return fields[field] === 'instant' ? now : defaults[field]
}

/** Secrets stay out of the terminal. */
function readablePart({ definition }: Resource, remains: StoredRecord): string {
  const shown = Object.entries(remains).filter(([field]) => ['id', 'name', 'identityId', 'createdAt'].includes(field))
  const known = shown.filter(([field, value]) => value !== null && !definition.hidden?.includes(field))
  return JSON.stringify(Object.fromEntries(known))
}
