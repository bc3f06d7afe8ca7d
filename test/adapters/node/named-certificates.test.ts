import { once } from 'node:events'
import { connect } from 'node:tls'
import { createController, createPkiMaterial } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { type RunningServer, serve } from 'portcullis/node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const now = Date.now()
const certificateOf = async (hosts: readonly string[]) => {
  const { serverCertPem: cert, serverKeyPem: key } = await createPkiMaterial({ hosts, trustDomain: 'named.test', now })
  return { cert, key }
}

let server: RunningServer
let end: () => Promise<void>

beforeAll(async () => {
  const controller = await createController({ storage: memoryStorage(), address: 'controller.test:1280' })
  const namedCertificates = [await certificateOf(['console.test', '*.wild.test', '127.0.0.1'])]
  server = await serve(controller, { host: '127.0.0.1', port: 0, namedCertificates })
  end = async () => {
    await server.close()
    await controller.close()
  }
})
afterAll(() => end())

/** The names in the certificate that a client is shown which asks for a name. */
async function shownTo(servername: string): Promise<string> {
  const name = servername === '' ? {} : { servername }
  const socket = connect({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false, ...name })
  await once(socket, 'secureConnect')
  const { subjectaltname = '' } = socket.getPeerCertificate()
  socket.destroy()
  return subjectaltname
}

describe('a second server certificate', () => {
  it('is shown to who asks for one of its names, and the own one of the controller to everybody else', async () => {
    for (const name of ['console.test', 'a.wild.test']) expect(await shownTo(name)).toContain('DNS:console.test')
    for (const name of ['', 'controller.test', 'localhost', 'other.test'])
      expect(await shownTo(name)).toContain('DNS:controller.test')
  })

  it('stays when that of the controller is replaced, and gives way to a newer one', async () => {
    server.replaceCertificate(await certificateOf(['renewed.test']))
    expect(await shownTo('console.test')).toContain('DNS:console.test')
    expect(await shownTo('controller.test')).toContain('DNS:renewed.test')
    server.addNamedCertificate(await certificateOf(['console.test', 'newer.test']))
    expect(await shownTo('console.test')).toContain('DNS:newer.test')
    expect(await shownTo('a.wild.test')).not.toContain('newer.test')
  })

  it('has to have a name by which it can be asked for', async () => {
    const nameless = await certificateOf(['127.0.0.1'])
    expect(() => server.addNamedCertificate(nameless)).toThrow('a named certificate needs a DNS name')
  })
})
