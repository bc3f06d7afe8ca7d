import { readdir, readFile } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** A file of the page, as it is served. */
export interface Asset {
  readonly bytes: Uint8Array
  readonly type: string
  /** In quotes; another text for every other content. */
  readonly tag: string
}

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}

/** The files of the page by their names below it. From source they are bundled now; the package has them as files. */
export async function loadAssets(): Promise<ReadonlyMap<string, Asset>> {
  const files = import.meta.url.endsWith('.ts') ? await bundled() : await built()
  const assets = await Promise.all(
    [...files].map(async ([name, bytes]): Promise<[string, Asset]> => {
      const type = TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
      return [name, { bytes, type, tag: await tagOf(bytes) }]
    }),
  )
  return new Map(assets)
}

/** Asked for by its address, as the package has neither the bundler nor what it is told. */
async function bundled(): Promise<ReadonlyMap<string, Uint8Array>> {
  const script = fileURLToPath(new URL('../../../scripts/bundle-explorer.ts', import.meta.url))
  const { bundleExplorer }: { bundleExplorer(): Promise<ReadonlyMap<string, Uint8Array>> } = await import(
    pathToFileURL(script).href
  )
  return bundleExplorer()
}

/** The bundler decides in which file of the package this stands. */
const PLACES = ['./page/', '../adapters/explorer/page/']

async function built(): Promise<ReadonlyMap<string, Uint8Array>> {
  for (const place of PLACES) {
    const folder = fileURLToPath(new URL(place, import.meta.url))
    const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
    const files = entries.filter((entry) => entry.isFile() && !entry.name.endsWith('.d.ts'))
    if (!files.some(({ name }) => name === 'index.html')) continue
    return new Map(
      await Promise.all(
        files.map(async ({ parentPath, name }): Promise<[string, Uint8Array]> => {
          const path = join(parentPath, name)
          return [path.slice(folder.length).split(sep).join('/'), new Uint8Array(await readFile(path))]
        }),
      ),
    )
  }
  throw new Error('the files of the explorer are not beside the package')
}

async function tagOf(bytes: Uint8Array): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new Uint8Array(bytes)))
  return `"${Buffer.from(digest).toString('base64url').slice(0, 22)}"`
}
