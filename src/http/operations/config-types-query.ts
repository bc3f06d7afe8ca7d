import { z } from 'zod'

/** The query parameter that says which configs a list of services shows: repeated, or separated by commas. */
export const ConfigTypesQuery = z.object({ configTypes: z.array(z.string()).optional() })

/** The config types that a request names, by id or name; nothing when it names none. */
export function configTypesIn(query: z.output<typeof ConfigTypesQuery>): { readonly configTypes?: readonly string[] } {
  const configTypes = (query.configTypes ?? []).flatMap((value) => value.split(',')).filter((name) => name !== '')
  return configTypes.length === 0 ? {} : { configTypes }
}
