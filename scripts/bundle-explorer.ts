// The page of the explorer for browsers: `adapters/tools/explorer/page` with the packages that it uses, minified.
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { explorerForms } from './explorer-forms.ts'

const root = join(import.meta.dirname, '..')
const folder = join(root, 'adapters/tools/explorer/page')

/**
 * The files of the page by name, as they are served: a document, scripts, a stylesheet, an icon. Names of scripts and styles
 * hold a hash of what is in them, so that browsers may keep them for good. Tests have it begin with another file.
 */
export async function bundleExplorer(main = join(folder, 'main.tsx')): Promise<ReadonlyMap<string, Uint8Array>> {
  const bundle = await rolldown({
    cwd: root,
    input: { page: main },
    platform: 'browser',
    tsconfig: join(folder, 'tsconfig.json'),
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
  })
  const { output } = await bundle.generate({
    entryFileNames: '[name]-[hash].js',
    // Code that views on demand share with the page is loaded with the page.
    chunkFileNames: ({ isDynamicEntry }) => (isDynamicEntry ? 'chunks/[name]-[hash].js' : 'shared-[hash].js'),
    minify: true,
  })
  await bundle.close()
  const encoder = new TextEncoder()
  const scripts = output.flatMap((file): [string, Uint8Array][] =>
    file.type === 'chunk' ? [[file.fileName, encoder.encode(file.code)]] : [],
  )
  const [entry] = output.flatMap((file) => (file.type === 'chunk' && file.isEntry ? [file] : []))
  const { fileName: script = '', imports = [] } = entry ?? {}
  const preloads = imports.map((name) => `<link rel="modulepreload" href="./${name}" />\n    `).join('')
  const style = encoder.encode(await stylesheet())
  const styleName = `page-${createHash('sha256').update(style).digest('base64url').slice(0, 8)}.css`
  const document = await readFile(join(folder, 'index.html'), 'utf8')
  return new Map([
    ...scripts,
    [styleName, style],
    [
      'index.html',
      encoder.encode(
        document
          .replace('./page.js', `./${script}`)
          .replace('./page.css', `./${styleName}`)
          .replace('<script', `${preloads}<script`),
      ),
    ],
    ['forms.json', encoder.encode(explorerForms())],
    ['icon.svg', await readFile(join(folder, 'icon.svg'))],
  ])
}

/** The stylesheets one after the other: first the values that the others use, last the rules of paper, which hold over all. */
async function stylesheet(): Promise<string> {
  const names = (await readdir(join(folder, 'style'))).filter((name) => ![...FIRST, LAST].includes(name)).sort()
  const texts = [...FIRST, ...names, LAST].map((name) => readFile(join(folder, 'style', name), 'utf8'))
  return (await Promise.all(texts)).join('\n')
}

const FIRST = ['tokens.css', 'base.css']
const LAST = 'print.css'
