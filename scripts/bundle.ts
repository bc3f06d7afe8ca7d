// Writes what `npm run build` publishes: for each entry point of the package one file, and for what several of them share one
// more. A program that imports an entry then reads some files instead of some hundred, which takes a third of the time.
// Packages stay imports, so that a host has one copy of each, but for a few small ones that hosts do not share (`bundled-packages.ts`).
import { readFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'
import { bundleExplorer } from './bundle-explorer.ts'
import { isBundled, minifyPackages, writeNotices } from './bundled-packages.ts'
import { flattenDeclarations, nameRecords } from './flatten-declarations.ts'

interface Manifest {
  readonly bin: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, string | { readonly default: string; readonly types: string }>>
}

const root = new URL('..', import.meta.url)
const manifest: Manifest = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
const entries = Object.values(manifest.exports).filter((entry) => typeof entry !== 'string')
const names = [...Object.values(manifest.bin), ...entries.map((entry) => entry.default)].map(nameOf)
const declaredNames = entries.map((entry) => nameOf(entry.types))

/** The name of an entry point in the output folder, of the path that the manifest has. */
function nameOf(path: string): string {
  return path.replace(/^\.\/dist\//, '').replace(/(\.d\.ts|\.js)$/, '')
}

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
  // Bundled packages are taken as the modules that their manifests name, of which what nobody imports can be left out.
  resolve: { mainFields: ['module', 'main'] },
  plugins: [buildDate, minifyPackages],
  // Imports by the name of a package.
  external: (id) => /^[^./]/.test(id) && !isBundled(id),
})
const { output } = await bundle.write({
  dir: 'dist',
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name].js',
  // Declarations have what is written about exports.
  comments: { jsdoc: false },
})
await bundle.close()
await writeNotices(
  root,
  output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : [])),
)

const declared = (path: string) => fileURLToPath(new URL(`dist/declared/src/${path}`, root))
const wireNames = declared('facts/resources/wire-names.d.ts')
flattenDeclarations([
  { file: wireNames },
  { file: declared('facts/resources/record-names.d.ts') },
  {
    file: declared('apis/apis.d.ts'),
    namesFrom: [{ file: wireNames, specifier: '../facts/resources/wire-names.js' }],
    generic: { name: 'Signature', specifier: '../http/operations/operation.js' },
    shared: 'CommonApi',
  },
])

nameRecords(declared(''), {
  names: fileURLToPath(new URL('src/facts/resources/record-names.ts', root)),
  file: declared('facts/resources/record-names.d.ts'),
})

// Declarations alike: of what the compiler wrote, what an entry point leads to. An editor that opens an entry then reads a few
// files, without what only the implementation names.
const declarations = await rolldown({
  cwd: fileURLToPath(root),
  input: Object.fromEntries(declaredNames.map((name) => [name, `./dist/declared/${name}.d.ts`])),
  plugins: [dts({ dtsInput: true, tsconfig: false })],
  external: /^[^./]/,
})
await declarations.write({
  dir: 'dist',
  entryFileNames: '[name].js',
  chunkFileNames: 'declarations/[name].js',
  minifyInternalExports: false,
})
await declarations.close()
await rm(new URL('dist/declared', root), { recursive: true })

// The page of the explorer stands beside it as files, for browsers.
for (const [name, bytes] of await bundleExplorer()) {
  const file = new URL(`dist/adapters/tools/explorer/page/${name}`, root)
  await mkdir(new URL('.', file), { recursive: true })
  await writeFile(file, bytes)
}
