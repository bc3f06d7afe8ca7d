import type { Controller } from '../../../src/index.ts'
import { certificatesIn, createSigningRequest } from '../endpoints/signing-request.ts'

/** A router with the certificate that the network gave it. */
export interface EnrolledRouter {
  readonly id: string
  /** What it shows in a TLS handshake: DER, leaf first. */
  readonly chain: readonly Uint8Array[]
}

type Call = (method: string, path: string, body?: object) => Promise<Readonly<Record<string, unknown>>>

/**
 * Creates an edge router and enrolls it with a key of its own, as its program would. `fields` are those of the request to
 * create it; `token` is an API session of an admin.
 *
 * @example
 * const { id, chain } = await enrollEdgeRouter(controller, token, { name: 'edge-1' })
 */
export async function enrollEdgeRouter(
  controller: Pick<Controller, 'fetch'>,
  token: string,
  fields: { readonly name: string; readonly [field: string]: unknown },
): Promise<EnrolledRouter> {
  const call = callerOf(controller, token)
  const { id } = await call('POST', '/edge/management/v1/edge-routers', fields)
  const { enrollmentToken } = await call('GET', `/edge/management/v1/edge-routers/${id}`)
  const { csr } = await createSigningRequest(String(id))
  const body = { certCsr: csr, serverCertCsr: csr }
  const { cert } = await call('POST', `/edge/client/v1/enroll?method=erott&token=${enrollmentToken}`, body)
  return { id: String(id), chain: certificatesIn(String(cert)) }
}

function callerOf({ fetch }: Pick<Controller, 'fetch'>, token: string): Call {
  return async (method, path, body) => {
    const headers = { 'content-type': 'application/json', 'zt-session': token }
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) }
    const response = await fetch(new Request(`https://controller.test${path}`, init))
    const answer: { readonly data: Record<string, unknown> } = JSON.parse(await response.text())
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`)
    return answer.data
  }
}
