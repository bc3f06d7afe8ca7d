/** A way through the network: routers in order, and the link between each and the next. One router alone is a path too. */
export interface Path {
  readonly routers: readonly string[]
  readonly links: readonly string[]
  /** What the hops cost together; 0 without any. */
  readonly cost: number
}

/** Whether two paths pass the same routers over the same links, whatever they cost. */
export function isSamePath(left: Path, right: Path): boolean {
  return isSameList(left.routers, right.routers) && isSameList(left.links, right.links)
}

/** The router at which traffic enters. */
export function firstRouter({ routers }: Path): string {
  return routers[0] ?? ''
}

/** The router at which traffic leaves, which for a path of one router is the first. */
export function lastRouter({ routers }: Path): string {
  return routers.at(-1) ?? ''
}

/** The routers of a path that another one does not pass. */
export function routersLeft(before: Path, after: Path): readonly string[] {
  const kept = new Set(after.routers)
  return before.routers.filter((id) => !kept.has(id))
}

function isSameList(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((value, position) => value === right[position])
}
