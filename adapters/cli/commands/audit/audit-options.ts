import { CONNECTION_OPTIONS } from '../../connection/connection-options.ts'
import { STORAGE_OPTIONS } from '../../input/storage-options.ts'

/** The options of `portcullis audit`. */
export const AUDIT_OPTIONS = {
  ...CONNECTION_OPTIONS,
  ...STORAGE_OPTIONS,
  entity: { value: 'ID', summary: 'records about this entity alone' },
  actor: { value: 'ID', summary: 'what this identity did alone' },
  filter: { value: 'FILTER', summary: 'a condition on id, at, type, kind, entityId and actorId' },
  limit: { value: 'COUNT', summary: 'how many records, the latest first; default 50' },
  lines: { summary: 'every record as a line of JSON, the earliest first' },
  after: { value: 'ID', summary: 'with --lines: records after this one' },
} as const
