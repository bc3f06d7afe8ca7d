import type { PlainAnswer, PlainFetch } from '../../http/exchange.ts'
import { apiDocument } from '../documents.ts'
import { indexPage, operationPage } from './operation-page.ts'
import { STYLE } from './page-frame.ts'
import { API_NAMES, type ReferenceEntry, referenceEntries } from './reference-operations.ts'

/** Where the reference lies. */
const PATH = '/portcullis/docs'
/** Longer questions are cut. */
const MAX_QUERY = 100

/** No script runs, nothing is loaded from elsewhere, and no other page frames these. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-cache',
}

/**
 * Answers the reference of all operations below `/portcullis/docs` beside a controller, without a login: pages without scripts that are
 * written from the operations themselves, each once, and the OpenAPI document of each API as `/portcullis/docs/API.json`.
 */
export function withReference(fetch: PlainFetch, version: string): PlainFetch {
  const entries = referenceEntries()
  const documents = new Map(API_NAMES.map((api) => [`/${api}.json`, api]))
  const byPath = new Map(entries.map((entry) => [`/${entry.api}/${entry.id}`, entry]))
  const written = new Map<string, string>()

  function once(path: string, write: () => string): string {
    const text = written.get(path) ?? write()
    written.set(path, text)
    return text
  }

  function index(query: string): string {
    return query === '' ? once('', () => indexPage(entries, '')) : indexPage(entries, query)
  }

  function answer(url: URL): PlainAnswer {
    const below = url.pathname.slice(PATH.length)
    if (below === '') return page(index((url.searchParams.get('q') ?? '').trim().slice(0, MAX_QUERY)))
    if (below === '/') return plain(308, '', { location: '../docs' })
    if (below === '/style.css') return { status: 200, headers: typed('text/css; charset=utf-8'), body: STYLE }
    const api = documents.get(below)
    if (api !== undefined) {
      const body = once(below, () => JSON.stringify(apiDocument(api, version)))
      return { status: 200, headers: typed('application/json'), body }
    }
    const entry: ReferenceEntry | undefined = byPath.get(below)
    if (entry === undefined) return plain(404, 'there is no such page\n')
    return page(once(below, () => operationPage(entry)))
  }

  return async (request, connection) => {
    const url = new URL(request.url)
    if (url.pathname !== PATH && !url.pathname.startsWith(`${PATH}/`)) return fetch(request, connection)
    if (request.method === 'HEAD') return { ...answer(url), body: null }
    return request.method === 'GET' ? answer(url) : plain(405, 'only GET\n', { allow: 'GET, HEAD' })
  }
}

function page(text: string): PlainAnswer {
  return { status: 200, headers: typed('text/html; charset=utf-8'), body: text }
}

function plain(status: number, text: string, headers: Readonly<Record<string, string>> = {}): PlainAnswer {
  return { status, headers: { ...typed('text/plain; charset=utf-8'), ...headers }, body: status === 308 ? null : text }
}

function typed(type: string): Record<string, string> {
  return { ...HEADERS, 'content-type': type }
}
