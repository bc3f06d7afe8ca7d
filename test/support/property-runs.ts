const effort = Number(process.env.PORTCULLIS_PROPERTY_RUNS ?? 1)

/** How often a property runs: so many times, times what `PORTCULLIS_PROPERTY_RUNS` asks for. */
export function runs(usual: number): { readonly numRuns: number } {
  return { numRuns: Math.ceil(usual * effort) }
}

/** How long (ms) such a property may take. */
export function patience(usual: number): number {
  return usual * Math.max(1, effort)
}
