import { IS_SHORT, IS_SLOW_SUITE } from './suite.ts'

const EFFORT = Number(process.env.PORTCULLIS_PROPERTY_RUNS ?? 1)

/**
 * How often something random is tried: `usual` times, or `short` times in `npm test` where that is given because each takes
 * long, and a third of `usual` in `npm run test:slow` then; times what `PORTCULLIS_PROPERTY_RUNS` asks for.
 */
export function times(usual: number, short = usual): number {
  const inSuite = IS_SLOW_SUITE ? Math.max(short, usual / 3) : usual
  return Math.ceil((IS_SHORT ? short : inSuite) * EFFORT)
}

/** How often a property runs: as {@link times} says. */
export function runs(usual: number, short = usual): { readonly numRuns: number } {
  return { numRuns: times(usual, short) }
}

/** How long (ms) such a property may take. */
export function patience(usual: number): number {
  return usual * Math.max(1, EFFORT)
}
