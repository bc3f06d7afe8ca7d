// Fails where the repository has grown past a limit of `limits.json`: npm run check:limits. A limit that cannot be kept is raised there,
// in a commit that says why.
import { readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = new URL('..', import.meta.url)
const limits: unknown = JSON.parse(readFileSync(new URL('limits.json', import.meta.url), 'utf8'))

/** The measure of each limit, by its name in `limits.json`. */
const MEASURES: Readonly<Record<string, () => number>> = {
  /** The first page, which a reader takes in at once. */
  readmeBytes: () => statSync(new URL('README.md', root)).size,
}

/** The limits that are passed, and the names that only one side has, a line each. */
export function passedLimits(
  given: object,
  measures: Readonly<Record<string, () => number>> = MEASURES,
): readonly string[] {
  const named = Object.entries(given).flatMap(([name, most]) => {
    const measure = measures[name]
    if (measure === undefined) return [`${name}: nothing measures it`]
    const found = measure()
    return found <= Number(most) ? [] : [`${name}: ${found}, the limit is ${most}`]
  })
  const unlimited = Object.keys(measures).filter((name) => !Object.hasOwn(given, name))
  return [...named, ...unlimited.map((name) => `${name}: it has no limit`)]
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const passed = passedLimits(Object(limits))
  for (const line of passed) console.error(line)
  process.exitCode = passed.length === 0 ? 0 : 1
}
