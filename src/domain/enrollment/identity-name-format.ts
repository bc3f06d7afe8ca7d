/** How identities are named that a certificate authority enrolls by itself, unless it says otherwise. */
export const DEFAULT_IDENTITY_NAME_FORMAT = '[caName]-[commonName]'

/** What the symbols of a name format stand for. */
export interface NameSymbols {
  readonly caName: string
  readonly caId: string
  readonly commonName: string
  readonly requestedName: string
  readonly identityId: string
}

/** The name that a format makes; a symbol may stand in it more than once, and unknown ones stay as they are. */
export function formatIdentityName(format: string, symbols: NameSymbols): string {
  const values = new Map(Object.entries(symbols))
  return format.replace(/\[([A-Za-z]{1,32})\]/g, (symbol, name: string) => values.get(name) ?? symbol)
}

/** The `attempt`-th name to try when the name itself (attempt 0) is taken: six digits are appended. */
export function numberedName(name: string, attempt: number): string {
  return attempt === 0 ? name : `${name}${String(attempt).padStart(6, '0')}`
}
