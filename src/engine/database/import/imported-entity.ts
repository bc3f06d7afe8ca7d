/** An entity as another controller shows it. */
export interface ImportedEntity {
  /** The name of its resource, as `service-policies`. */
  readonly resource: string
  /** What the management API of the other controller answers for it, its id included. */
  readonly entity: Readonly<Record<string, unknown>>
}
