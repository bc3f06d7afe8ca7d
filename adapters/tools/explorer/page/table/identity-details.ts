import { fromBase64 } from '../../../../../src/base/bytes.ts'
import { grouped } from '../../../../../src/base/collections.ts'
import type { Apis } from '../api/apis.ts'
import { memberOf, type Row, readList } from '../api/read-json.ts'
import { mayRead } from '../session/session.ts'

/** Lists that stand beside those of identities, by the columns that take them; with the right to read them. */
const BESIDE = [
  { columns: ['seen', 'address'], kind: 'api-sessions', permission: 'ops', sort: 'lastActivityAt desc' },
  { columns: ['certificate'], kind: 'authenticators', permission: 'authenticator', sort: 'createdAt' },
] as const

/** As many identities are asked about at once: a filter has a longest length. */
const AT_ONCE = 50
/** The most entries of such a list for these identities. */
const MOST = 500

/** Adds to a page of identities what the chosen columns show of their sessions and certificates. */
export async function withDetails(
  apis: Apis,
  rows: readonly Row[],
  columns: readonly string[],
  signal: AbortSignal,
): Promise<readonly Row[]> {
  let all = rows
  for (const { columns: of, kind, permission, sort } of BESIDE) {
    if (!mayRead(permission) || !of.some((column) => columns.includes(column))) continue
    const found: Row[] = []
    for (let at = 0; at < rows.length; at += AT_ONCE) {
      const ids = rows.slice(at, at + AT_ONCE).map(({ id }) => JSON.stringify(id))
      const filter = `identity in [${ids.join(', ')}]`
      found.push(...(await readList(apis, kind, { filter, sort, limit: MOST }, signal)).rows)
    }
    const by = grouped(found, (one) => String(one.of.identityId))
    all = all.map((row) => ({ ...row, of: { ...row.of, [kind]: (by.get(row.id) ?? []).map(({ of }) => of) } }))
  }
  return all
}

/** The session in which an identity was seen last; undefined where it has none now. */
export function lastSession({
  of,
}: Row): { readonly lastActivityAt?: unknown; readonly ipAddress?: unknown } | undefined {
  const sessions = of['api-sessions']
  return Array.isArray(sessions) ? sessions[0] : undefined
}

/** When the first of the certificates of an identity, or that of an authenticator, ends (RFC 3339); undefined without one. */
export function certificateEnd({ of }: Row): string | undefined {
  const credentials = Array.isArray(of.authenticators) ? of.authenticators : [of]
  const ends = credentials.flatMap((one) => endOf(memberOf(one, 'certPem')) ?? [])
  return ends.length === 0 ? undefined : new Date(Math.min(...ends)).toISOString()
}

/** The end of a certificate (epoch ms); undefined for another value. */
function endOf(pem: unknown): number | undefined {
  if (typeof pem !== 'string' || !pem.startsWith('-----BEGIN CERTIFICATE')) return undefined
  const der = fromBase64(pem.replace(/-----[^-]*-----|\s/g, ''))
  const [body = { begin: 0, end: 0, tag: 0 }] = elementsIn(der, elementsIn(der, { begin: 0, end: der.length })[0])
  const parts = elementsIn(der, body)
  // The version, which may be absent, stands before the serial number, the algorithm and the issuer.
  const [, notAfter] = elementsIn(der, parts[parts[0]?.tag === VERSION ? 4 : 3])
  const [digits = ''] = /\d+/.exec(String.fromCharCode(...der.subarray(notAfter?.begin, notAfter?.end))) ?? []
  // Two digits are a year from 1950 on (RFC 5280).
  const full = digits.length > 12 ? digits : `${digits < '5' ? '20' : '19'}${digits}`
  return Date.parse(full.replace(/^(\d{4})(..)(..)(..)(..)(..)$/, '$1-$2-$3T$4:$5:$6Z')) || undefined
}

const VERSION = 0xa0

interface Bounds {
  readonly begin: number
  readonly end: number
}

/** The elements of the distinguished encoding within bounds; each with the bounds of its content. */
function elementsIn(der: Uint8Array, { begin, end }: Bounds = { begin: 0, end: 0 }): (Bounds & { tag: number })[] {
  const elements = []
  for (let at = begin; at < end; ) {
    const length = der[at + 1] ?? 0
    const content = at + 2 + (length < 0x80 ? 0 : length - 0x80)
    const size = length < 0x80 ? length : der.subarray(at + 2, content).reduce((sum, one) => sum * 256 + one, 0)
    elements.push({ tag: der[at] ?? 0, begin: content, end: content + size })
    at = content + size
  }
  return elements
}
