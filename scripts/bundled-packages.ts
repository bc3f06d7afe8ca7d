// The packages that are bundled instead of depended on: each is small, depends on no other, and is nothing that a host shares
// with this package. Of some a fraction is used: what is installed is smaller by 2.6 MB. A new release of one needs a release
// of this package.
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { minify } from 'rolldown/utils'

const BUNDLED: ReadonlySet<string> = new Set(['hash-wasm', 're2js', 'reflect-metadata', 'uqr'])

/** Tells whether what is imported by the name of a package becomes part of this one. */
export function isBundled(specifier: string): boolean {
  return BUNDLED.has(specifier)
}

/** Makes chunks that hold nothing but packages smaller: nobody reads their traces by our lines. */
export const minifyPackages = {
  name: 'minify packages',
  async renderChunk(
    code: string,
    { fileName, moduleIds }: { readonly fileName: string; readonly moduleIds: string[] },
  ) {
    const isOfPackages = moduleIds.length > 0 && moduleIds.every((path) => path.includes('/node_modules/'))
    if (!isOfPackages) return null
    return (await minify(fileName, code, { module: true, mangle: { keepNames: true } })).code
  },
}

/** Writes the licences of the packages that the modules of a bundle are of. Throws where one was not expected, or has none. */
export async function writeNotices(root: URL, modules: readonly string[]): Promise<void> {
  const found = new Set(modules.flatMap((path) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []))
  const strange = [...found].filter((name) => !BUNDLED.has(name))
  const absent = [...BUNDLED].filter((name) => !found.has(name))
  if (strange.length + absent.length > 0) {
    throw new Error(`bundled, but not named: ${strange.join(', ')}; named, but not bundled: ${absent.join(', ')}`)
  }
  const notices = await Promise.all([...found].toSorted().map((name) => noticeOf(root, name)))
  const text = `The files beside this one hold parts of these packages.\n\n${notices.join('\n')}`
  await writeFile(new URL('dist/THIRD-PARTY-LICENSES.txt', root), text)
}

async function noticeOf(root: URL, name: string): Promise<string> {
  const folder = new URL(`node_modules/${name}/`, root)
  const { version, license } = JSON.parse(await readFile(new URL('package.json', folder), 'utf8'))
  const notice = new URL('CopyrightNotice.txt', folder)
  const texts = [new URL('LICENSE', folder), ...(existsSync(notice) ? [notice] : [])]
  const written = await Promise.all(texts.map((file) => readFile(file, 'utf8')))
  return `=== ${name} ${version}, ${license} ===\n\n${written.map((text) => text.trim()).join('\n\n')}\n`
}
