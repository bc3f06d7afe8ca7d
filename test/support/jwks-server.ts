import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { onTestFinished } from 'vitest'

/** An identity provider with rotating keys: a real HTTP server. */
export async function identityProvider(issuer = 'https://idp.example') {
  const keys: JWK[] = []
  const state = { fetches: 0, kid: '', answer: undefined as RequestListener | undefined }
  let privateKey: Awaited<ReturnType<typeof generateKeyPair>>['privateKey'] | undefined
  const server = createServer((request, response) => {
    state.fetches += 1
    if (state.answer !== undefined) return state.answer(request, response)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ keys }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo

  const rotate = async (kid: string, alg = 'ES256') => {
    const pair = await generateKeyPair(alg, { extractable: true })
    keys.push({ ...(await exportJWK(pair.publicKey)), kid, alg })
    privateKey = pair.privateKey
    state.kid = kid
    return alg
  }
  let alg = await rotate('key-1')
  return {
    issuer,
    endpoint: `http://127.0.0.1:${port}/keys`,
    state,
    keys,
    rotate: async (kid: string, algorithm = 'ES256') => {
      alg = await rotate(kid, algorithm)
    },
    /** A token for an instant (epoch ms), good for five minutes. */
    token: async (now: number, claims: Record<string, unknown> = {}, header: Record<string, unknown> = {}) => {
      if (privateKey === undefined) throw new Error('no key')
      const seconds = Math.floor(now / 1000)
      const all = { iss: issuer, aud: 'network', iat: seconds, exp: seconds + 300, ...claims }
      return new SignJWT(all).setProtectedHeader({ alg, kid: state.kid, ...header }).sign(privateKey)
    },
  }
}
