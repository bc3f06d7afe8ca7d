import { globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly files: readonly string[] }

/** The files that users read, who have the package and no clone. */
const DOCUMENTS = ['README.md', 'llms.txt', ...globSync('docs/*.md', { cwd: root })].filter(isPacked)
const SOURCES = globSync('{src,adapters,test,bench,scripts,docs,examples}/**', {
  cwd: root,
  exclude: ['**/node_modules'],
})

/** Whether the package has a file or folder of the repository. */
function isPacked(path: string): boolean {
  const isBelow = (entry: string) => path === entry || path.startsWith(`${entry}/`)
  return files.some(isBelow) && !files.some((entry) => entry.startsWith('!') && isBelow(entry.slice(1)))
}

/** The paths of the repository that a text has in backticks, whole or from some folder on, outside its blocks of code. */
function pathsIn(text: string): readonly string[] {
  const words = text.replaceAll(/^```.*?^```/gms, '').matchAll(/`([\w.@-]+(?:\/[\w.@-]+)+)\/?`/g)
  return [...words].flatMap(([, word = '']) => {
    const found = SOURCES.find((path) => path === word || path.endsWith(`/${word}`))
    return found === undefined || isExport(word) ? [] : [found]
  })
}

/** Names of the entry points look like paths: `portcullis/testing`. */
function isExport(word: string): boolean {
  return word.startsWith('portcullis/')
}

describe('a path in backticks', () => {
  it.each(DOCUMENTS)('of %s is in the package', (document) => {
    const paths = pathsIn(readFileSync(join(root, document), 'utf8'))
    expect(paths.filter((path) => !isPacked(path))).toEqual([])
  })

  it('is found where it is one, of the repository or of the package', () => {
    expect(
      pathsIn('see `src/index.ts`, `kernel/filter` and `examples/cluster`, not `a/b` or `portcullis/memory`'),
    ).toEqual(['src/index.ts', 'src/kernel/filter', 'examples/cluster'])
    expect(isPacked('src/index.ts')).toBe(false)
    expect(isPacked('docs/api-report')).toBe(false)
    expect(statSync(join(root, 'examples/cluster')).isDirectory() && isPacked('examples/cluster')).toBe(true)
  })
})
