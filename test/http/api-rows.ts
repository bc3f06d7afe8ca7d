import { clientOperations, managementOperations } from '../../src/http/api.ts'
import { CLIENT, MANAGEMENT } from '../contract/http/foreign-client.ts'

const FACTS = { version: 'v0', revision: '', buildDate: '', runtimeVersion: '' }

/** An operation of one of the two edge APIs. */
export interface Row {
  readonly api: 'client' | 'management'
  readonly base: string
  readonly route: string
}

/** Every operation of both APIs. */
export const ROWS: readonly Row[] = [
  ...clientOperations(FACTS).map(({ shape }): Row => ({ api: 'client', base: CLIENT, route: shape.route })),
  ...managementOperations(FACTS).map(({ shape }): Row => ({ api: 'management', base: MANAGEMENT, route: shape.route })),
]
