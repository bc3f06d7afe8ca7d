import type { BaseRecord } from '../../resources/declaration/resource.ts'

/** A record that comes into being at `now` (epoch ms): what every record has, and `fields`, which may bring tags. */
export function newRecord<const Fields extends object>(id: string, now: number, fields: Fields): BaseRecord & Fields {
  return { id, createdAt: now, updatedAt: now, tags: {}, ...fields }
}
