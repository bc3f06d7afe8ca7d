/**
 * Prints how the folders of `src` and `adapters` import each other, the lowest first, and every pair of folders side by side that
 * import each other both ways, or in a ring. `npm run folders` shows it; `npm run check` fails where it finds one.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The arrows between the folders that stand side by side in one folder. */
export interface FolderArrows {
  /** The folder that holds them. */
  readonly folder: string
  /** The folders in it, the lowest first: each imports those before it. */
  readonly order: readonly string[]
  /** From a folder to those it imports. */
  readonly arrows: ReadonlyMap<string, ReadonlySet<string>>
  /** Imports that lead from one folder of a ring to another; empty where the folders have an order. */
  readonly rings: readonly string[]
}

const ROOT = join(import.meta.dirname, '..')
/** Folders that are read. */
const TREES = ['src', 'adapters']

/** Reads the imports of every source, and answers the arrows of each folder that holds others. */
export function folderArrows(): FolderArrows[] {
  const files = TREES.flatMap((tree) =>
    readdirSync(join(ROOT, tree), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => join(tree, name)),
  )
  const known = new Set(files)
  const imports = files.flatMap((from) =>
    [...readFileSync(join(ROOT, from), 'utf8').matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)]
      .map(([, target = '']) => ({ from, to: join(dirname(from), target) }))
      .filter(({ to }) => known.has(to)),
  )
  const byFolder = Map.groupBy(
    imports.flatMap(({ from, to }) => between(from, to)),
    ({ folder }) => folder,
  )
  return [...byFolder].map(([folder, found]) => inOrder(folder, found)).sort((a, b) => (a.folder < b.folder ? -1 : 1))
}

interface Arrow {
  readonly folder: string
  readonly from: string
  readonly to: string
  readonly shown: string
}

/** The two folders side by side that an import leads between; nothing where one of the files stands in the folder of both. */
function between(from: string, to: string): Arrow[] {
  const [a, b] = [from.split('/'), to.split('/')]
  const depth = a.findIndex((part, place) => part !== b[place])
  const [left, right] = [a[depth], b[depth]]
  if (depth >= a.length - 1 || depth >= b.length - 1 || left === undefined || right === undefined) return []
  return [{ folder: a.slice(0, depth).join('/'), from: left, to: right, shown: `${from} -> ${to}` }]
}

/** Takes the folders away that import nothing that is left, until those are left that stand in rings. */
function inOrder(folder: string, found: readonly Arrow[]): FolderArrows {
  const arrows = new Map<string, Set<string>>()
  for (const { from, to } of found) {
    arrows.set(from, (arrows.get(from) ?? new Set()).add(to))
    arrows.set(to, arrows.get(to) ?? new Set())
  }
  const order: string[] = []
  const left = new Set([...arrows.keys()].sort())
  for (;;) {
    const lowest = [...left].find((name) => [...(arrows.get(name) ?? [])].every((to) => !left.has(to)))
    if (lowest === undefined) break
    left.delete(lowest)
    order.push(lowest)
  }
  return {
    folder,
    order,
    arrows,
    rings: found.filter(({ from, to }) => left.has(from) && left.has(to)).map(({ shown }) => shown),
  }
}

if (import.meta.main) {
  const found = folderArrows()
  for (const { folder, order, arrows, rings } of found) {
    console.log(`${folder || 'the repository'}: ${order.join(' < ')}`)
    if (process.argv.includes('--arrows')) {
      for (const [from, to] of arrows) if (to.size > 0) console.log(`  ${from} -> ${[...to].sort().join(' ')}`)
    }
    for (const ring of rings) console.log(`  in a ring: ${ring}`)
  }
  const rings = found.flatMap((folder) => folder.rings)
  console.log(`${found.length} folders of folders, ${rings.length} imports that stand in rings`)
  process.exitCode = rings.length === 0 ? 0 : 1
}
