// Writes what `npm run build` publishes: for each entry point of the package one file, and for what several of them share one
// more. A program that imports an entry then reads some files instead of some hundred, which takes a third of the time.
// Packages stay imports, so that a host has one copy of each; declarations are the compiler's.
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { bundleExplorer } from './bundle-explorer.ts'

interface Manifest {
  readonly bin: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, string | { readonly default: string; readonly types: string }>>
}

const root = new URL('..', import.meta.url)
const manifest: Manifest = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
const outputs = [
  ...Object.values(manifest.bin),
  ...Object.values(manifest.exports).flatMap((entry) => (typeof entry === 'string' ? [] : [entry.default])),
]
const names = outputs.map((path) => path.replace(/^\.\/dist\//, '').replace(/\.js$/, ''))

// SOURCE_DATE_EPOCH (seconds) makes builds alike.
const { SOURCE_DATE_EPOCH: epoch } = process.env
const builtAt = epoch === undefined ? new Date() : new Date(Number(epoch) * 1000)
const buildDate = {
  name: 'build date',
  transform(code: string, id: string): string | undefined {
    if (!id.endsWith('/src/version.ts')) return undefined
    return code.replace(/(BUILD_DATE = )'[^']*'/, `$1'${builtAt.toISOString()}'`)
  },
}

const bundle = await rolldown({
  cwd: fileURLToPath(root),
  input: Object.fromEntries(names.map((name) => [name, `./${name}.ts`])),
  platform: 'neutral',
  plugins: [buildDate],
  // What is imported by the name of a package.
  external: /^[^./]/,
})
await bundle.write({
  dir: 'dist',
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name].js',
})
await bundle.close()

/** Adds the declarations that one leads to, itself included. */
function addReached(file: URL, reached: Set<string>): void {
  if (reached.has(file.href) || !existsSync(file)) return
  reached.add(file.href)
  for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(/(?:from|import|import\()\s*["'](\.[^"']+)["']/g)) {
    addReached(new URL(name.replace(/\.[jt]s$/, '.d.ts'), file), reached)
  }
}

// A declaration that no entry leads to is nobody's: it is not published.
const reached = new Set<string>()
for (const entry of Object.values(manifest.exports)) {
  if (typeof entry !== 'string') addReached(new URL(entry.types, root), reached)
}
const dist = new URL('dist/', root)
for (const name of await readdir(dist, { recursive: true })) {
  const file = new URL(name, dist)
  if (name.endsWith('.d.ts') && !reached.has(file.href)) await rm(file)
}

// What browsers load of the explorer stands beside it as files.
for (const [name, bytes] of await bundleExplorer()) {
  const file = new URL(`dist/adapters/explorer/page/${name}`, root)
  await mkdir(new URL('.', file), { recursive: true })
  await writeFile(file, bytes)
}
