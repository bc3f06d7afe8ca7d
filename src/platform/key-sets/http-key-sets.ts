import type { KeySets } from '../../ports/key-sets.ts'
import { guardedText } from './guarded-http.ts'

export interface HttpKeySetsOptions {
  /** Allows addresses of private networks and of this machine. Default: false. */
  readonly allowInternal?: boolean
}

/** Key sets over HTTP, from addresses that may be fetched from. */
export function createHttpKeySets({ allowInternal = false }: HttpKeySetsOptions = {}): KeySets {
  return {
    refusal: (text) => {
      if (!URL.canParse(text)) return 'is not a URL'
      const url = new URL(text)
      if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'is not an http or https URL'
      if (url.username !== '' || url.password !== '') return 'holds credentials'
      if (!allowInternal && /^(localhost|.*\.localhost)\.?$/.test(url.hostname)) return 'names this machine'
      const literal = url.hostname.replace(/^\[|\]$/g, '')
      const isAddress = /^[\d.]+$/.test(literal) || literal.includes(':')
      return isAddress && !mayBeLiteral(literal, allowInternal) ? 'names an address that is not allowed' : undefined
    },
    fetch: (url) => guardedText(url, { allowInternal }),
  }
}

/** Nobody may be sent there, as with deployed controllers: links and their groups, metadata of clouds, no address at all. */
const NEVER = /^(169\.254\.|224\.0\.0\.|0\.0\.0\.0$)|^(::$|fe[89ab]|ff02:|fd00:ec2::254$)/i

/** A first judgement without the network modules; the connection judges again. */
function mayBeLiteral(literal: string, allowInternal: boolean): boolean {
  if (NEVER.test(asVersion4(literal))) return false
  return (
    allowInternal ||
    !/^(0|10|127|169\.254|192\.168|172\.(1[6-9]|2\d|3[01])|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])|22[4-9]|2[3-5]\d)\.|^(::|f[cdef]|64:ff9b:|2002:)/i.test(
      literal,
    )
  )
}

/** An IPv4 address inside of an IPv6 one is judged as what it is. */
function asVersion4(literal: string): string {
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(literal) ?? []
  if (high === undefined || low === undefined) return literal
  return [high, low].flatMap((half) => [Number.parseInt(half, 16) >> 8, Number.parseInt(half, 16) & 255]).join('.')
}
