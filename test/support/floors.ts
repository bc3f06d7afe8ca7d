import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The floors of `src`, the lowest first, but for the services: those are the rest. `.dependency-cruiser.cjs` reads the same file. */
const FLOORS: Readonly<Record<string, readonly string[]>> = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../scripts/floors.json'), 'utf8'),
)

/** The floor of a file of `src` by its ending or its folder: the first that it fits. */
export function floorOf(path: string): string {
  const fits = Object.entries(FLOORS).find(([, patterns]) => patterns.some((pattern) => new RegExp(pattern).test(path)))
  return fits?.[0] ?? 'none'
}
