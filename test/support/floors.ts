/** The floors of `src`, the lowest first: each is a folder or some; the folders of topics that remain hold the services. */
const FLOORS: Readonly<Record<string, RegExp>> = {
  ground: /^src\/(base|concurrency)\//,
  kernel: /^src\/kernel\//,
  ports: /^src\/ports\//,
  facts: /^src\/facts\//,
  platform: /^src\/platform\//,
  operations: /^src\/(http|apis)\//,
  doors: /^src\/(?:(controller|client|model|planning)\/|[^/]+\.ts$)/,
  services: /^src\//,
}

/** The floors that know nothing of services. */
export const BELOW_SERVICES: ReadonlySet<string> = new Set(['ground', 'kernel', 'ports', 'facts'])

/** The floor of a file of `src`: the first whose folders hold it. */
export function floorOf(path: string): string {
  return Object.entries(FLOORS).find(([, folders]) => folders.test(path))?.[0] ?? 'none'
}
