import { connect } from 'node:tls'
import type { Controller } from 'portcullis'
import type { ControlListener } from 'portcullis/fabric'
import { type EnrolledRouter, TEST_ADMIN } from 'portcullis/testing'
import { certificatesIn, createSigningRequest } from '../../adapters/network/enrollment/created-requests.ts'

/** A router that can prove over TLS who it is: its key and its certificates, PEM. */
export interface TlsRouter extends EnrolledRouter {
  readonly key: string
  readonly cert: string
}

/** Calls an API of a controller in process, as nobody unless a token is given; answers the data. */
export async function callController(
  controller: Pick<Controller, 'fetch'>,
  [method, path]: readonly [string, string],
  body?: object,
  token = '',
) {
  const headers = { 'content-type': 'application/json', ...(token === '' ? {} : { 'zt-session': token }) }
  const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) }
  const response = await controller.fetch(new Request(`https://controller.test/edge${path}`, init))
  const answer = JSON.parse(await response.text())
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`)
  return answer.data
}

/** Logs the admin of tests in; answers the token. */
export async function adminToken(controller: Pick<Controller, 'fetch'>): Promise<string> {
  const { token } = await callController(
    controller,
    ['POST', '/management/v1/authenticate?method=password'],
    TEST_ADMIN,
  )
  return String(token)
}

/** Creates an edge router and enrolls it with a key of its own. */
export async function enrollTlsRouter(
  controller: Pick<Controller, 'fetch'>,
  token: string,
  name: string,
  fields: object = {},
): Promise<TlsRouter> {
  const made = { name, ...fields }
  const { id } = await callController(controller, ['POST', '/management/v1/edge-routers'], made, token)
  const shown = await callController(controller, ['GET', `/management/v1/edge-routers/${id}`], undefined, token)
  const { key, csr } = await createSigningRequest(id)
  const { cert } = await callController(
    controller,
    ['POST', `/client/v1/enroll?method=erott&token=${shown.enrollmentToken}`],
    { certCsr: csr, serverCertCsr: csr },
  )
  return { id, chain: certificatesIn(cert), key, cert }
}

/** A listener that is reached over TLS at a port of this machine, as a router that is played in this process reaches it. */
export function overTls(port: number, { key, cert }: Pick<TlsRouter, 'key' | 'cert'>): ControlListener {
  return {
    accept(theirs) {
      const host = '127.0.0.1'
      const socket = connect({ host, port, key, cert, ALPNProtocols: ['ziti-ctrl'], rejectUnauthorized: false })
      socket.on('error', () => theirs.destroy()).once('close', () => theirs.destroy())
      theirs.once('close', () => socket.destroy())
      theirs.pipe(socket).pipe(theirs)
    },
    acceptProcess: () => undefined,
    close: async () => undefined,
  }
}
