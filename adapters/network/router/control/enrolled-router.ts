import { runtime } from '../../../../src/concurrency/process-runtime.ts'
import { createRouterRequests } from '../../enrollment/created-requests.ts'
import {
  ENROLLMENT_MS,
  type EnrollmentToken,
  inTime,
  provenIssuer,
  readEnrollmentToken,
  type TokenIssuer,
} from '../../enrollment/token-issuer.ts'
import type { RouterCredentials } from '../state/opened-socket.ts'

/** A router that a controller enrolled: its id, its credentials and the addresses of its controllers. */
export interface RouterIdentity extends RouterCredentials {
  readonly id: string
  /** Endpoints connect to an edge router; a transit router only forwards for other routers. */
  readonly kind: 'edge' | 'transit'
  /** Addresses of controllers, such as `tls:controller.example.org:6262`. */
  readonly controllers: readonly string[]
  /**
   * Renewed keys and certificates that no controller has confirmed yet, the latest at the end: a controller takes one of these or the pair
   * above, and the router finds out. They are kept with the identity.
   */
  readonly pending?: readonly PendingCredentials[]
}

/** A renewed key and its certificates, PEM. */
export type PendingCredentials = Omit<RouterCredentials, 'ca'>

const KINDS: Readonly<Record<string, RouterIdentity['kind']>> = { erott: 'edge', trott: 'transit' }

/**
 * Enrolls a router by the token that its controller made for it, of Portcullis or a deployed one. `hosts` are the names and addresses under
 * which it will be reached. Rejects if the token is invalid, expired or used, or if the server did not sign the token. Rejects with the
 * code `TIMED_OUT` if no answer comes for `timeoutMs`: the token may be used up then.
 */
export async function enrollRouter(
  jwt: string,
  hosts: readonly string[],
  timeoutMs = ENROLLMENT_MS,
): Promise<RouterIdentity> {
  const token = readEnrollmentToken(jwt)
  const kind = KINDS[token.method]
  if (kind === undefined || token.subject === '' || token.token === '') {
    throw new Error('this is no enrollment token of a router')
  }
  if (token.expiresAt === undefined || token.expiresAt < runtime.now()) {
    throw new Error('the enrollment token has expired: ask for another one')
  }
  return inTime(timeoutMs, async (signal) => {
    const issuer = await provenIssuer(jwt, token, signal)
    if (issuer === undefined) throw new Error(`${token.issuer.host} is not the controller that signed the token`)
    const { keyPem: key, clientCsrPem, serverCsrPem } = await createRouterRequests(token.subject, hosts)
    const certificates = await redeem(issuer, token, { certCsr: clientCsrPem, serverCertCsr: serverCsrPem })
    return { id: token.subject, kind, key, ...certificates, controllers: token.controllers }
  })
}

async function redeem(
  issuer: TokenIssuer,
  { method, token }: EnrollmentToken,
  requests: object,
): Promise<Pick<RouterCredentials, 'clientCert' | 'serverCert' | 'ca'>> {
  const path = `/edge/client/v1/enroll?method=${method}&token=${encodeURIComponent(token)}`
  const { status, body } = await issuer.ask(path, requests)
  const answer = Object(JSON.parse(body))
  if (status !== 200) {
    throw new Error(`the controller refused the enrollment: ${status} ${String(Object(answer.error).message)}`)
  }
  const { cert: clientCert, serverCert, ca } = Object(answer.data)
  const isWhole = [clientCert, serverCert, ca].every((pem) => typeof pem === 'string' && pem !== '')
  if (!isWhole) throw new Error('the controller answered without certificates')
  return { clientCert, serverCert, ca }
}
