/** The OpenAPI 3.0 documents of every API, as plain JSON. */
export interface ApiDocuments {
  readonly management: Readonly<Record<string, unknown>>
  readonly client: Readonly<Record<string, unknown>>
  readonly fabric: Readonly<Record<string, unknown>>
  readonly portcullis: Readonly<Record<string, unknown>>
}
