import { CONNECTION_OPTIONS } from '../connection/connection-options.ts'
import { STORAGE_OPTIONS } from '../input/storage-options.ts'

/** The options of `portcullis explain`. */
export const EXPLAIN_OPTIONS = {
  ...CONNECTION_OPTIONS,
  ...STORAGE_OPTIONS,
  identity: { value: 'NAME', summary: 'id or name of the identity, instead of the words' },
  service: { value: 'NAME', summary: 'id or name of the service, instead of the words' },
  type: { value: 'dial|bind', choices: ['dial', 'bind'], summary: 'what is asked, instead of the words; default dial' },
} as const
