import { IS_SHORT } from '../support/suite.ts'

/**
 * The part of the HTTP contract to run. An adapter matters to how requests, bodies, headers and certificates are read and answers
 * written; a storage to what is kept, found and removed. What the APIs do is the same behind each of them.
 */
export type ContractPart = 'all' | 'what an adapter matters to' | 'what a storage matters to'

/** In `npm test` the whole contract is run in process; `npm run test:slow` runs it through every adapter. */
export const ADAPTER_PART: ContractPart = IS_SHORT ? 'what an adapter matters to' : 'all'

/** `npm run test:storage` runs the whole contract on every storage. */
export const STORAGE_PART: ContractPart =
  process.env.PORTCULLIS_STORAGE_MATRIX === 'all' ? 'all' : 'what a storage matters to'
