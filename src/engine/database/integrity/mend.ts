import type { WriteTransaction } from '../../../ports/storage.ts'
import type { Call } from '../../context/call.ts'
import type { EngineContext } from '../../context/context.ts'
import { deletePart } from '../../records/deletion.ts'
import { type Part, writeInParts } from '../../records/parts.ts'
import type { Repair } from './inconsistency.ts'

/** Does a repair; answers whether there was something to mend still. */
export function mend(
  context: EngineContext,
  call: Call,
  { resource, id, field, entry, action }: Repair,
): Promise<boolean> {
  const work = async (tx: WriteTransaction, part: Part) => {
    if (action === 'remove') return deletePart(tx, resource, id, part)
    const record = await tx.collection(resource).get(id)
    const value = record?.[field]
    if (record === undefined) return false
    const left = Array.isArray(value) ? value.filter((other) => other !== entry) : null
    return tx.collection(resource).update({ ...record, [field]: left })
  }
  return writeInParts(context, call, work)
}
