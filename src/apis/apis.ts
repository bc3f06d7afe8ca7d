import * as client from './client/index.ts'
import * as fabric from './fabric/index.ts'
import * as management from './management/index.ts'
import { type RoutesOf, rowsOf } from './operations/rows.ts'
import * as portcullis from './portcullis/index.ts'

/** The rows of every API. */
export const APIS = {
  client: rowsOf(client),
  management: rowsOf(management),
  fabric: rowsOf(fabric),
  portcullis: rowsOf(portcullis),
} as const

/** What typed clients know of each API, by route. */
export interface ClientApi extends RoutesOf<typeof client> {}
export interface ManagementApi extends RoutesOf<typeof management> {}
export interface PortcullisApi extends RoutesOf<typeof portcullis> {}
