import { toBase64 } from '../../base/bytes.ts'
import { timeoutSignal } from '../../concurrency/process-runtime.ts'
import type { WebhookEndpoints } from '../../ports/webhook-endpoints.ts'
import { addressesAmong, isAllowedAddress } from './guarded-address.ts'
import { guardedAnswer } from './guarded-http.ts'

/** Webhooks over HTTP. Redirects are not followed, and only the status of an answer is read. */
export async function createWebhookEndpoints(inwardAddresses: readonly string[]): Promise<WebhookEndpoints> {
  const isAllowedInside = addressesAmong(inwardAddresses)
  /** Plain HTTP only inside networks that the host declared its own. */
  const judgeOf = (url: URL) => (address: string) =>
    isAllowedInside(address) || (url.protocol === 'https:' && isAllowedAddress(address, false))
  return {
    refusal: (text) => {
      if (!URL.canParse(text)) return 'is not a URL'
      const url = new URL(text)
      if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'is not an https URL'
      if (url.username !== '' || url.password !== '') return 'holds credentials'
      if (url.hash !== '') return 'holds a fragment, which is never sent'
      const literal = url.hostname.replace(/^\[|\]$/g, '')
      const isAddress = /^[\d.]+$/.test(literal) || literal.includes(':')
      if (isAddress && !judgeOf(url)(literal)) return 'names an address that is not allowed'
      if (url.protocol === 'http:' && inwardAddresses.length === 0) return 'is not an https URL'
      return undefined
    },
    post: async (text, { body, headers, signal }) => {
      const url = new URL(text)
      const answer = await guardedAnswer(url, {
        isAllowed: judgeOf(url),
        signal,
        headers: { 'content-type': 'application/json', 'user-agent': 'portcullis-webhooks', ...headers },
        body,
      })
      const retryAfter = answer.headers['retry-after']
      answer.destroy()
      return { status: answer.statusCode ?? 0, ...(retryAfter !== undefined && { retryAfter }) }
    },
    attemptSignal: (closing, milliseconds) => AbortSignal.any([closing, timeoutSignal(milliseconds)]),
    signature: async (key, text) => {
      const algorithm = { name: 'HMAC', hash: 'SHA-256' }
      const imported = await crypto.subtle.importKey('raw', new Uint8Array(key), algorithm, false, ['sign'])
      return toBase64(new Uint8Array(await crypto.subtle.sign('HMAC', imported, new TextEncoder().encode(text))))
    },
  }
}
