// Internals: the operations of the APIs as data, so that none is left out.
import { APIS } from '../../src/apis/apis.ts'
import { CLIENT, MANAGEMENT } from '../contract/http/foreign-client.ts'

/** Where our own operations are. */
export const PORTCULLIS = '/portcullis/v1'

/** Where the data plane is shown and operated. */
export const FABRIC = '/fabric/v1'

/** An operation of one of the APIs. */
export interface Row {
  readonly api: 'client' | 'fabric' | 'management' | 'portcullis'
  readonly base: string
  readonly route: string
  readonly shape: (typeof APIS)['client' | 'management'][number]['shape']
}

/** Every operation of both edge APIs. */
export const ROWS: readonly Row[] = [
  ...APIS.client.map(({ shape }): Row => ({ api: 'client', base: CLIENT, route: shape.route, shape })),
  ...APIS.management.map(({ shape }): Row => ({ api: 'management', base: MANAGEMENT, route: shape.route, shape })),
]

/** Every operation, our own and those of the data plane included. */
export const ALL_ROWS: readonly Row[] = [
  ...ROWS,
  ...APIS.fabric.map(({ shape }): Row => ({ api: 'fabric', base: FABRIC, route: shape.route, shape })),
  ...APIS.portcullis.map(({ shape }): Row => ({ api: 'portcullis', base: PORTCULLIS, route: shape.route, shape })),
]
