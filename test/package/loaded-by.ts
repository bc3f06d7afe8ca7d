import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'

/** The imports of a module from its own package before it runs, as the bundler writes them. */
const OWN_IMPORT = /^(?:import|export)\s(?:[^'";]*?\sfrom\s)?["'](\.[^"']+)["']/gm

/** Bytes, gzipped, of what each entry point of an installed package loads of the package itself. */
export async function loadedBy(folder: string): Promise<ReadonlyMap<string, number>> {
  const { exports } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const entries = Object.entries<string | { readonly default: string }>(exports)
  const sizes = entries.flatMap(([name, entry]) =>
    typeof entry === 'string' ? [] : [sizeOf(join(folder, entry.default)).then((bytes) => [name, bytes] as const)],
  )
  return new Map(await Promise.all(sizes))
}

/** The files stand in the order of their imports: how well they compress depends on it. */
async function sizeOf(entry: string): Promise<number> {
  const texts = new Map<string, string>()
  async function visit(path: string): Promise<void> {
    if (texts.has(path)) return
    const text = await readFile(path, 'utf8')
    texts.set(path, text)
    for (const [, name = ''] of text.matchAll(OWN_IMPORT)) await visit(join(dirname(path), name))
  }
  await visit(entry)
  return gzipSync([...texts.values()].join('\n')).length
}
