import type { Operation, Signature } from './operation.ts'

/** A row of an API, or rows that belong together. */
type Rows = Operation | readonly Operation[] | { readonly [name: string]: Operation }

/** An API as a module: its exports are its rows. */
export interface ApiModule {
  readonly [name: string]: Rows
}

/** The rows of an API. What its module does not export is not served. */
export function rowsOf(api: ApiModule): readonly Operation[] {
  return Object.values(api).flatMap((rows) => (isRow(rows) ? [rows] : Object.values(rows)))
}

function isRow(rows: Rows): rows is Operation {
  return 'shape' in rows && 'handle' in rows
}

type RowsIn<Export> = Export extends Operation
  ? Export
  : Export extends readonly (infer Row)[]
    ? Row
    : Export[keyof Export]

type SignatureOf<Row> =
  Row extends Operation<infer Route, infer Query, infer Body, infer Data, infer Kind>
    ? Signature<Route, Query, Body, Data, Kind>
    : never

/** The rows of an API as typed clients know them, by route. Rows whose route is computed are served, but not typed. */
export type RoutesOf<Api> = {
  readonly [S in SignatureOf<{ [Name in keyof Api]: RowsIn<Api[Name]> }[keyof Api]> as IsLiteral<
    S['route']
  > extends true
    ? S['route']
    : never]: S
}
type IsLiteral<T extends string> = Record<never, never> extends Record<T, 1> ? false : true
