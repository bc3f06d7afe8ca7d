/** The query of a list that finds the one entity of an id, or of a name. */
export function byIdOrName(idOrName: string): { readonly filter: string; readonly limit: number } {
  const quoted = JSON.stringify(idOrName)
  return { filter: `id = ${quoted} or name = ${quoted}`, limit: 1 }
}
