import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')

/** Topics whose tests run the sources in processes of their own, are about the repository, or last long: they say nothing of a package. */
const ELSEWHERE =
  /^test\/(adapters\/(cli|sql|explorer)|attacks|clients|crash|documents|endings|examples|explorer|fabric|failover|laws|package|races|real-routers|reference|simulation|types|webhooks)\b|^test\/(architecture|entry-points)|processes[.]test|node-(limits|fairness)|sdk\/(identity|slow-readers)/

/** The test files that import the package by its name alone, with what they import: they may run against a package that is installed. */
export function testsByName(): readonly string[] {
  const files = [...globSync('test/**/*.test.ts', { cwd: root }), 'examples/in-test/access.test.ts']
  const known = new Map<string, boolean>()
  return files.filter((file) => !ELSEWHERE.test(file) && !importsSources(join(root, file), known)).toSorted()
}

function importsSources(file: string, known: Map<string, boolean>): boolean {
  const before = known.get(file)
  if (before !== undefined) return before
  known.set(file, false)
  const text = readFileSync(file, 'utf8')
  // The matcher is of the vitest beside the package, and the one that runs is that of the repository.
  if (text.includes("'portcullis/testing/vitest'")) return true
  const imported = [...text.matchAll(/(?:from|import)[\s(]+'([.][^']+)'/g)]
  const found = imported.some(([, path = '']) => {
    const target = resolve(dirname(file), path)
    if (/^(?:src|adapters|bench|scripts)\//.test(relative(root, target))) return true
    return existsSync(target) && importsSources(target, known)
  })
  known.set(file, found)
  return found
}

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>
}

/** Resolves the name of the package to the one that is installed in `folder`, for tests that otherwise get the sources. */
export function installedPackage(folder: string) {
  const installed = join(folder, 'node_modules/portcullis')
  const { exports }: Manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  return {
    name: 'installed package',
    enforce: 'pre' as const,
    resolveId(name: string): string | undefined {
      if (!/^portcullis(\/|$)/.test(name)) return undefined
      const entry = exports[name.replace('portcullis', '.')]
      return entry === undefined ? undefined : join(installed, typeof entry === 'string' ? entry : entry.default)
    },
  }
}
