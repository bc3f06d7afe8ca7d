import { readdir, readFile } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import type { PlainAnswer } from '../../../src/index.ts'
import { type CODINGS, codingFor } from './compression.ts'

/** Below this path of a controller the page is. */
export const EXPLORER_PATH = '/portcullis/explorer'

/** The parts of a request that matter here. */
interface AskedFor {
  readonly method: string
  readonly url: string
  readonly headers: Headers
}

/** Nothing inline, nothing from other hosts, and no frame: a name or a tag is text and never runs. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "require-trusted-types-for 'script'",
  "font-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/**
 * Answers requests below the path of the explorer, from files that were read beforehand. A path is looked up as it stands, so that no path
 * leads elsewhere. `undefined` for every other path.
 */
export function openSite(): (request: AskedFor) => Promise<PlainAnswer | undefined> {
  let loading: ReturnType<typeof loadAssets> | undefined
  return async ({ method, url, headers }) => {
    const { pathname } = new URL(url)
    if (pathname !== EXPLORER_PATH && !pathname.startsWith(`${EXPLORER_PATH}/`)) return undefined
    if (method !== 'GET' && method !== 'HEAD')
      return plainText(405, 'only GET and HEAD are allowed', { allow: 'GET, HEAD' })
    // Relative, so that it works below any mount prefix of the controller.
    if (pathname === EXPLORER_PATH) return plainText(308, '', { location: 'explorer/' })
    loading ??= loadAssets()
    const assets = await loading.catch(() => undefined)
    if (assets === undefined) return plainText(503, 'the files of the explorer cannot be read')
    const asset = assets.get(pathname.slice(EXPLORER_PATH.length + 1) || 'index.html')
    if (asset === undefined) return plainText(404, 'the explorer has no such file')
    const coding = codingFor(headers)
    const bytes = (coding && asset.coded[coding]) ?? asset.bytes
    const etag = bytes === asset.bytes ? `"${asset.digest}"` : `"${asset.digest}-${coding}"`
    const own = { ...HEADERS, 'cache-control': asset.caching, etag, vary: 'accept-encoding' }
    if (isKnown(headers.get('if-none-match'), etag)) return { status: 304, headers: own, body: null }
    const type = { 'content-type': asset.type, ...(coding && bytes !== asset.bytes && { 'content-encoding': coding }) }
    return { status: 200, headers: { ...own, ...type }, body: method === 'HEAD' ? null : bytes }
  }
}

function isKnown(tags: string | null, tag: string): boolean {
  return (tags ?? '').split(',').some((one) => one.trim().replace(/^W\//, '') === tag)
}

function plainText(status: number, text: string, more: Readonly<Record<string, string>> = {}): PlainAnswer {
  const headers = { ...HEADERS, 'cache-control': 'no-store', 'content-type': 'text/plain; charset=utf-8', ...more }
  return { status, headers, body: new TextEncoder().encode(`${text}\n`) }
}

/** A file of the page, as it is served. */
export interface Asset {
  readonly bytes: Uint8Array
  readonly type: string
  /** Another text for every other content. */
  readonly digest: string
  /** The same compressed, where that is smaller. */
  readonly coded: Readonly<Partial<Record<(typeof CODINGS)[number], Uint8Array>>>
  /** For how long browsers may keep it. */
  readonly caching: string
}

/** A file with a hash in its name never changes; every other file is requested again. */
const HASHED = /-[\w-]{8}\.(css|js)$/
const ONE_YEAR_S = 31_536_000

const BROTLI = promisify(brotliCompress)
const GZIP = promisify(gzip)

async function assetOf(name: string, bytes: Uint8Array): Promise<Asset> {
  const [br, gz] = await Promise.all([BROTLI(bytes), GZIP(bytes, { level: 9 })])
  return {
    bytes,
    type: TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
    digest: await digestOf(bytes),
    coded: { ...(br.length < bytes.length && { br }), ...(gz.length < bytes.length && { gzip: gz }) },
    caching: HASHED.test(name) ? `public, max-age=${ONE_YEAR_S}, immutable` : 'no-cache',
  }
}

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  svg: 'image/svg+xml',
}

/** The files of the page by their names below it. From source they are bundled now; the package has them as files. */
async function loadAssets(): Promise<ReadonlyMap<string, Asset>> {
  const files = import.meta.url.endsWith('.ts') ? await bundled() : await built()
  const assets = await Promise.all(
    [...files].map(async ([name, bytes]): Promise<[string, Asset]> => [name, await assetOf(name, bytes)]),
  )
  return new Map(assets)
}

/** Asked for by its address, as the package has neither the bundler nor its input. */
async function bundled(): Promise<ReadonlyMap<string, Uint8Array>> {
  const script = fileURLToPath(new URL('../../../scripts/bundle-explorer.ts', import.meta.url))
  const { bundleExplorer }: { bundleExplorer(): Promise<ReadonlyMap<string, Uint8Array>> } = await import(
    pathToFileURL(script).href
  )
  return bundleExplorer()
}

/** The bundler decides in which file of the package this stands. */
const PLACES = ['./page/', '../adapters/tools/explorer/page/']

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

async function digestOf(bytes: Uint8Array): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new Uint8Array(bytes)))
  return Buffer.from(digest).toString('base64url').slice(0, 22)
}
