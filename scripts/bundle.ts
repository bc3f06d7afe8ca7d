// Writes what `npm run build` publishes: for each entry point of the package one file, and for what several of them share one
// more. A program that imports an entry then reads some files instead of some hundred, which takes a third of the time.
// Packages stay imports, so that a host has one copy of each; declarations are the compiler's.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

interface Manifest {
  readonly bin: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>
}

const root = new URL('..', import.meta.url)
const manifest: Manifest = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
const outputs = [
  ...Object.values(manifest.bin),
  ...Object.values(manifest.exports).flatMap((entry) => (typeof entry === 'string' ? [] : [entry.default])),
]
const names = outputs.map((path) => path.replace(/^\.\/dist\//, '').replace(/\.js$/, ''))

const bundle = await rolldown({
  cwd: fileURLToPath(root),
  input: Object.fromEntries(names.map((name) => [name, `./${name}.ts`])),
  platform: 'neutral',
  // What is imported by the name of a package.
  external: /^[^./]/,
})
await bundle.write({
  dir: 'dist',
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name].js',
})
await bundle.close()
