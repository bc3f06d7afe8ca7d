import { X509Certificate } from 'node:crypto'
import type { ApiClient, ClientApi } from '../../../src/client/index.ts'
import { createSigningRequest } from '../enrollment/signing-request.ts'
import { ConnectionFailure } from './connection-failure.ts'
import type { ControllerSession } from './controller-session.ts'
import type { Credentials, EnrolledDevice } from './identity-file.ts'

/** The share of its life after which a certificate is renewed. */
const RENEWED_AFTER = 2 / 3

/** The certificate that an identity shows. */
export interface HeldCertificate {
  readonly credentials: () => Credentials
  /** Key and certificate are others from now on. */
  replace(credentials: Credentials): void
}

/** Keeps a renewed identity; the one before stays good where it rejects. */
type Keep = (device: EnrolledDevice) => void | Promise<void>

interface RenewalSettings {
  readonly session: ControllerSession
  /** The controller that issues the next certificate, `https://HOST:PORT`. */
  readonly controller: string
  /** Undefined for an identity that proves itself in another way. */
  readonly certificate: HeldCertificate | undefined
  /** Undefined where nothing is renewed unless it is asked for. */
  readonly keep: Keep | undefined
}

/** Renews the key and the certificate of an identity. */
export class CertificateRenewal {
  readonly #settings: RenewalSettings
  #isUnderWay = false

  constructor(settings: RenewalSettings) {
    this.#settings = settings
  }

  /**
   * Gives the identity a new key and certificate. The old one is good until `keep` has the new one, and void afterwards. Rejects as
   * `keep` does, and with a {@link ConnectionFailure} where the controller issues none, for example for a certificate of another
   * authority.
   */
  async renew(keep: Keep): Promise<void> {
    const { session, controller, certificate } = this.#settings
    if (certificate === undefined) throw new ConnectionFailure('NOT_ALLOWED', 'the identity shows no certificate')
    const { ca } = certificate.credentials()
    const { params, device } = await session.call('renewal', async (api) => {
      const params = { id: await certificateIdOf(api) }
      const { name } = (await api.call('GET /current-identity')).data
      const { key, csr } = await createSigningRequest(name)
      const body = { clientCertCsr: csr }
      const { data } = await api.call('POST /current-identity/authenticators/{id}/extend', { params, body })
      return { params, device: { controller, key, cert: data.clientCert, ca: nextBundle(ca, data.ca) } }
    })
    await keep(device)
    const body = { clientCert: device.cert }
    await session.call('renewal', (api) =>
      api.call('POST /current-identity/authenticators/{id}/extend-verify', { params, body }),
    )
    certificate.replace({ key: device.key, cert: device.cert, ca: device.ca })
    await session.changeCertificate()
  }

  /**
   * Renews in the last third of the certificate's life, and when the controller asks for it, where somebody keeps it; nobody
   * waits for it.
   */
  renewWhenDue(): void {
    const { certificate, keep } = this.#settings
    if (keep === undefined || certificate === undefined || this.#isUnderWay) return
    this.#isUnderWay = true
    // A failure is followed by another try when the session is renewed: the certificate is still good for long.
    this.#isDue(certificate)
      .then((isDue) => (isDue ? this.renew(keep) : undefined))
      .catch(() => undefined)
      .finally(() => {
        this.#isUnderWay = false
      })
  }

  async #isDue(certificate: HeldCertificate): Promise<boolean> {
    if (isOld(certificate.credentials().cert, Date.now())) return true
    const { data } = await this.#settings.session.call('renewal', (api) => api.call('GET /current-api-session'))
    return data.isCertExtendRequested === true
  }
}

/**
 * The trust bundle from now on: the one that the controller sent, unless the identity trusts by something else, such as the
 * certificate of a proxy.
 */
function nextBundle(known: string | undefined, sent: string): string {
  if (known === undefined) return sent
  const trusted = certificatesIn(known)
  return certificatesIn(sent).some((certificate) => trusted.includes(certificate)) ? sent : known
}

function certificatesIn(pem: string): readonly string[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return blocks.map((block) => block.replaceAll(/\s/g, ''))
}

/** The authenticator that is the certificate by which the session began. */
async function certificateIdOf(api: ApiClient<ClientApi>): Promise<string> {
  const { authenticatorId } = (await api.call('GET /current-api-session')).data
  if (authenticatorId) return authenticatorId
  const { data } = await api.call('GET /current-identity/authenticators', { query: { filter: 'method = "cert"' } })
  const [only, ...others] = data
  if (only !== undefined && others.length === 0) return only.id
  throw new ConnectionFailure('NOT_ALLOWED', 'renewal: the session does not tell by which certificate it began')
}

/** Whether a certificate, PEM with its intermediates, has lived for most of its time at `now`, epoch milliseconds. */
function isOld(cert: string, now: number): boolean {
  const { validFrom, validTo } = new X509Certificate(cert)
  const [from, until] = [Date.parse(validFrom), Date.parse(validTo)]
  return now >= from + (until - from) * RENEWED_AFTER
}
