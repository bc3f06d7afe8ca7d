import type { PlainAnswer } from '../../../src/index.ts'
import { loadAssets } from './assets.ts'

/** Below this path of a controller the page is. */
export const EXPLORER_PATH = '/portcullis/explorer'

/** What of a request matters here. */
interface AskedFor {
  readonly method: string
  readonly url: string
  readonly headers: Headers
}

/** Nothing inline, nothing of other hosts, and in no frame: what a name or a tag says is text and never runs. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
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
 * Answers what is asked for below the path of the explorer, from files that were read beforehand: a path is looked up as it
 * stands, so that none leads anywhere else. `undefined` for every other path.
 */
export function openSite(): (request: AskedFor) => Promise<PlainAnswer | undefined> {
  let loading: ReturnType<typeof loadAssets> | undefined
  return async ({ method, url, headers }) => {
    const { pathname } = new URL(url)
    if (pathname !== EXPLORER_PATH && !pathname.startsWith(`${EXPLORER_PATH}/`)) return undefined
    if (method !== 'GET' && method !== 'HEAD')
      return plainText(405, 'only GET and HEAD are allowed', { allow: 'GET, HEAD' })
    // Relative, so that it holds below whatever prefix the controller is mounted.
    if (pathname === EXPLORER_PATH) return plainText(308, '', { location: 'explorer/' })
    loading ??= loadAssets()
    const assets = await loading.catch(() => undefined)
    if (assets === undefined) return plainText(503, 'the files of the explorer cannot be read')
    const asset = assets.get(pathname.slice(EXPLORER_PATH.length + 1) || 'index.html')
    if (asset === undefined) return plainText(404, 'the explorer has no such file')
    const own = { ...HEADERS, 'cache-control': 'no-cache', etag: asset.tag }
    if (isKnown(headers.get('if-none-match'), asset.tag)) return { status: 304, headers: own, body: null }
    const body = method === 'HEAD' ? null : asset.bytes
    return { status: 200, headers: { ...own, 'content-type': asset.type }, body }
  }
}

function isKnown(tags: string | null, tag: string): boolean {
  return (tags ?? '').split(',').some((one) => one.trim().replace(/^W\//, '') === tag)
}

function plainText(status: number, text: string, more: Readonly<Record<string, string>> = {}): PlainAnswer {
  const headers = { ...HEADERS, 'cache-control': 'no-store', 'content-type': 'text/plain; charset=utf-8', ...more }
  return { status, headers, body: new TextEncoder().encode(`${text}\n`) }
}
