import { type RoutesOf, rowsOf } from '../http/operations/api-module.ts'
import * as client from './client-api.ts'
import * as fabric from './fabric-api.ts'
import * as management from './management-api.ts'
import * as portcullis from './portcullis-api.ts'
import type { RelatedLists } from './related-lists.ts'

/** The rows of every API. */
export const APIS = {
  client: rowsOf(client),
  management: rowsOf(management),
  fabric: rowsOf(fabric),
  portcullis: rowsOf(portcullis),
} as const

/** The operations of the client API as typed clients know them, by route. */
export interface ClientApi extends RoutesOf<typeof client> {}
export interface ManagementApi extends RoutesOf<typeof management>, RelatedLists {}
export interface PortcullisApi extends RoutesOf<typeof portcullis> {}
