import type { FieldKind, Literal } from '../filter/index.ts'

/** A filter symbol that no field holds, and how its value follows from the facts. */
export type ComputedSymbol = { readonly kind: FieldKind } & (
  | { readonly by: 'constant'; readonly value: Literal }
  | { readonly by: 'member'; readonly field: string; readonly path: readonly string[] }
  | { readonly by: 'presence' }
  | { readonly by: 'reference'; readonly reference: string; readonly field: string }
  | { readonly by: 'policy'; readonly selected: string }
)

/** The same for every record. */
export function always(kind: FieldKind, value: Literal): ComputedSymbol {
  return { by: 'constant', kind, value }
}

/** A member inside a JSON field: `primary.cert.allowed`. Every record is looked at, so this is for kinds of few records. */
export function member(kind: FieldKind, place: string): ComputedSymbol {
  const [field = '', ...path] = place.split('.')
  return { by: 'member', kind, field, path }
}

/** Whether the router is connected to the data plane. */
export const IS_CONNECTED: ComputedSymbol = { by: 'presence', kind: 'boolean' }

/** A text field of the entity whose id `reference` holds. */
export function ofReference(reference: string, field: string): ComputedSymbol {
  return { by: 'reference', kind: 'string', reference, field }
}

/** The ids of the entities of a resource that the policy's role lists select. */
export function selectedBy(resource: string): ComputedSymbol {
  return { by: 'policy', kind: 'set', selected: resource }
}
