import type { Apis } from '../api/apis.ts'
import type { Explanation, Suggestion } from '../api/explanation.ts'
import { readAttributes } from '../what-if/read-entity.ts'

/** Reads how many pairs of identity and service a suggested step would give; undefined for steps that change no policies. */
export async function readGain(
  apis: Apis,
  { kind, entities, roleAttributes = [] }: Suggestion,
  { type }: Explanation,
  signal: AbortSignal,
): Promise<number | undefined> {
  if (kind === 'create-service-policy') return 1
  const [entity] = entities
  if (kind !== 'add-role-attributes' || entity === undefined) return undefined
  const of = entity.kind === 'services' ? 'services' : 'identities'
  const { before } = await readAttributes(apis, of, entity.id)
  const changed = { roleAttributes: [...before, ...roleAttributes] }
  const body = { changes: [{ kind: of, action: 'update' as const, id: entity.id, body: changed }], limit: 1 }
  const { data } = await apis.portcullis.call('POST /simulate', { body, signal })
  return data.counts?.[type === 'Bind' ? 'bind' : 'dial'].gained
}
