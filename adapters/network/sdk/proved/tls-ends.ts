import { X509Certificate } from 'node:crypto'
import { connect, createServer, type PeerCertificate, type TLSSocket, type TlsOptions } from 'node:tls'
import { type DirectParty, directProtocol, identityOfSpiffe, type NamedIdentity } from '../../../../src/proved-ends.ts'
import type { Timer } from '../../channel/conversation.ts'
import { certificatesIn } from '../../enrollment/created-requests.ts'
import type { Credentials } from '../identity-file.ts'
import type { ServiceConnection } from '../service-connection.ts'
import { TlsLine } from './tls-line.ts'

/** The key and certificates by which an end proves itself, and the authorities by which it judges the other end. */
export interface DirectCredentials extends NamedIdentity {
  readonly key: string
  /** Its certificate and the intermediates, without the root. */
  readonly cert: string
  readonly ca: string
}

/** The end of a circuit whose other end is to prove itself. */
export interface ProvingEnd {
  readonly role: 'dialer' | 'host'
  readonly circuitId: string
  readonly peer: DirectParty
}

/** Milliseconds for the handshake: three round trips over the network, with room for a slow machine. */
const HANDSHAKE_MS = 10_000

/** The credentials of an identity that can prove itself; a text says why it cannot. */
export function directCredentials({ key, cert, ca }: Credentials): DirectCredentials | string {
  // Without authorities of the network, TLS would trust those of the web.
  if (ca === undefined) return 'the identity names no authorities of its network'
  const [leaf, ...issuers] = certificatesIn(cert).map((der) => new X509Certificate(der))
  const named = leaf && identityIn(leaf)
  if (leaf === undefined || named === undefined) return 'the certificate of this identity is not of the network'
  const sent = [leaf, ...issuers.filter((issuer) => issuer.subject !== issuer.issuer)]
  return { ...named, key, ca, cert: sent.map(String).join('\n') }
}

/**
 * Runs TLS over a connection that nothing else reads, and answers its socket once the other end has proved to be who it should be. Rejects
 * with an `Error` that says why it has not.
 */
export function proveEnds(
  carrier: ServiceConnection,
  own: DirectCredentials,
  end: ProvingEnd,
  timer: Timer,
): Promise<TlsLine> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      cancel()
      carrier.destroy()
      reject(error)
    }
    const cancel = timer(HANDSHAKE_MS, () => fail(new Error(`no handshake within ${HANDSHAKE_MS / 1000} s`)))
    carrier.carryTls()
    carrier.on('error', fail)
    carrier.once('close', () => fail(new Error('the other end gave the connection up')))
    const take = (socket: TLSSocket) => {
      cancel()
      socket.on('error', fail)
      const problem = peerProblem(socket, own, end)
      if (problem === undefined) resolve(new TlsLine(socket, carrier, timer))
      else fail(new Error(problem))
    }
    const begin = end.role === 'dialer' ? dial : accept
    begin(carrier, optionsOf(own, end), take, fail)
  })
}

type Handshake = [
  carrier: ServiceConnection,
  options: ReturnType<typeof optionsOf>,
  take: (socket: TLSSocket) => void,
  fail: (error: Error) => void,
]

/** TLS 1.3 alone; both ends show certificates; each connection has a context of its own, so that none can be resumed. */
function optionsOf({ key, cert, ca }: DirectCredentials, { circuitId }: ProvingEnd) {
  return {
    ...{ key, cert, ca, minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3', rejectUnauthorized: true },
    ALPNProtocols: [directProtocol(circuitId)],
  } as const satisfies TlsOptions
}

function dial(...[carrier, options, take, fail]: Handshake): void {
  // Identities have no host names: `peerProblem` judges whom the certificate names.
  const socket = connect({ ...options, socket: carrier, checkServerIdentity: () => undefined })
  socket.once('secureConnect', () => take(socket))
  socket.once('error', fail)
}

function accept(...[carrier, options, take, fail]: Handshake): void {
  const server = createServer({ ...options, requestCert: true })
  server.once('secureConnection', take)
  server.once('tlsClientError', fail)
  server.emit('connection', carrier)
}

/** Why the other end is not who it should be. TLS has judged its chain and that it holds the key. */
function peerProblem(socket: TLSSocket, own: DirectCredentials, { circuitId, peer }: ProvingEnd): string | undefined {
  if (socket.getProtocol() !== 'TLSv1.3' || socket.isSessionReused()) return 'it is no new connection of TLS 1.3'
  if (socket.alpnProtocol !== directProtocol(circuitId)) return 'it is of another circuit'
  // `getPeerX509Certificate` answers an issuer when a dialer asks it again.
  const { raw } = socket.getPeerCertificate() as Partial<PeerCertificate>
  const shown = raw && new X509Certificate(raw)
  const named = shown && identityIn(shown)
  if (!socket.authorized || named === undefined) return 'it shows no certificate of an identity'
  if (named.trustDomain !== own.trustDomain) return 'it is of another network'
  if (named.identityId !== peer.id) return `it is another identity than ${peer.name}`
  const fingerprint = shown?.fingerprint.replaceAll(':', '').toLowerCase() ?? ''
  return peer.fingerprints.includes(fingerprint) ? undefined : 'its controller does not take its certificate'
}

/** The identity that a certificate names, which has exactly one URI. */
function identityIn({ subjectAltName = '' }: X509Certificate): NamedIdentity | undefined {
  const [uri, ...others] = subjectAltName.split(', ').filter((name) => name.startsWith('URI:'))
  return uri === undefined || others.length > 0 ? undefined : identityOfSpiffe(uri.slice('URI:'.length))
}
