import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { importPKCS8, SignJWT } from 'jose'
import { enroll, enrollDevice } from 'portcullis/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { enrollRouter } from '../../adapters/network/router/control/enrolled-router.ts'
import { issue } from '../support/https-certificates.ts'

let server: Server
let jwtOf: (method: string) => Promise<string>

/** A controller that accepts connections, begins each answer, and is silent from then on. */
beforeAll(async () => {
  const { key, cert } = await issue('localhost')
  server = createServer({ key, cert }, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/pkcs7-mime' })
    response.write('MII')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const signingKey = await importPKCS8(key, 'ES256')
  jwtOf = (em) =>
    new SignJWT({ em, ctrls: ['tls:localhost:1'] })
      .setProtectedHeader({ alg: 'ES256' })
      .setIssuer(`https://localhost:${port}`)
      .setSubject('somebody')
      .setJti('token')
      .setExpirationTime('1h')
      .sign(signingKey)
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

describe('enrolling at a controller that begins an answer and is silent then', () => {
  const late = { code: 'TIMED_OUT', message: expect.stringContaining('no answer within 0.3 s') }

  it.each([
    ['enroll', async () => enroll(await jwtOf('ott'), { timeoutMs: 300 })],
    ['enrollDevice', async () => enrollDevice({ jwt: await jwtOf('ott'), timeoutMs: 300 })],
    ['a router', async () => enrollRouter(await jwtOf('erott'), ['localhost'], 300)],
  ])('is given up in time, and nothing is heard of it afterwards: %s', async (_who, enrolled) => {
    await expect(enrolled()).rejects.toMatchObject(late)
    // An error that nobody takes ends the process, also one that comes later.
    await new Promise((resolve) => setTimeout(resolve, 50))
  })
})
