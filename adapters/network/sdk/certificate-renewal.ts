import { X509Certificate } from 'node:crypto'
import { type ApiClient, ApiError, type ClientApi } from '../../../src/client/index.ts'
import { runtime } from '../../../src/concurrency/process-runtime.ts'
import { pauseAfter } from '../../../src/data-plane.ts'
import type { Timer } from '../channel/conversation.ts'
import { createSigningRequest } from '../enrollment/created-requests.ts'
import { ConnectionFailure, failureOf } from './connection-failure.ts'
import type { ControllerSession } from './controller-session.ts'
import type { HeldCertificate } from './held-certificate.ts'
import type { CertifiedKey, EnrolledDevice } from './identity-file.ts'

/** The share of its life after which a certificate is renewed. */
const RENEWED_AFTER = 2 / 3

/** Keeps a whole identity, including a pending pair. */
type Keep = (device: EnrolledDevice) => void | Promise<void>

interface RenewalSettings {
  readonly session: ControllerSession
  /** `https://HOST:PORT` each. */
  readonly controllers: readonly string[]
  /** Undefined for an identity without a certificate. */
  readonly certificate: HeldCertificate | undefined
  /** Keeps every renewal. Undefined where only a caller of `renew` renews the identity. */
  readonly keep: Keep | undefined
  readonly timer: Timer
}

/**
 * Renews the key and the certificate of an identity. The program may die, or the controller disappear, at each step: the next pair is kept
 * beside the former pair until a controller has confirmed it, and then alone.
 */
export class CertificateRenewal {
  readonly #settings: RenewalSettings
  /** Renewals run one after the other: the kept identity then matches the controller. */
  #last: Promise<unknown> = Promise.resolve()
  #isUnderWay = false
  /** A confirmed pair could not be kept. */
  #isUnkept = false
  #failures = 0
  #cancel: () => void = () => undefined

  constructor(settings: RenewalSettings) {
    this.#settings = settings
  }

  /**
   * Gives the identity a new key and certificate. `keep` is called twice: with both pairs before the new pair is confirmed, and with the
   * new pair alone afterwards. Rejects as `keep` does, and with a {@link ConnectionFailure} if the controller issues no certificate, for
   * example for a certificate of another authority.
   */
  renew(keep: Keep): Promise<void> {
    const { keep: always } = this.#settings
    return this.#inOrder((certificate) =>
      this.#change(certificate, async (device) => {
        await always?.(device)
        await keep(device)
      }),
    )
  }

  /**
   * Renews in the last third of the certificate's life, and when the controller asks for it, if the identity has a `keep`; no caller waits
   * for it. An unfinished renewal is finished first.
   */
  renewWhenDue(): void {
    const { certificate, keep, timer } = this.#settings
    if (keep === undefined || certificate === undefined || this.#isUnderWay) return
    this.#isUnderWay = true
    this.#cancel()
    this.#inOrder(async () => {
      if (this.#isUnkept) await this.#keepAsItIs(certificate, keep)
      if (certificate.pending !== undefined || (await this.#isDue(certificate))) await this.#change(certificate, keep)
    })
      .then(
        () => {
          this.#failures = 0
        },
        (error: unknown) => {
          // After a refusal or a full disk the next renewal of the session tries again: the certificate is still valid for long.
          if (!isOfAbsence(error)) return
          this.#failures += 1
          this.#cancel = timer(pauseAfter(this.#failures, runtime.fraction()), () => this.renewWhenDue())
        },
      )
      .finally(() => {
        this.#isUnderWay = false
      })
  }

  close(): void {
    this.#cancel()
  }

  #inOrder(work: (certificate: HeldCertificate) => Promise<void>): Promise<void> {
    const { certificate } = this.#settings
    if (certificate === undefined) {
      return Promise.reject(new ConnectionFailure('NOT_ALLOWED', 'the identity shows no certificate'))
    }
    const done = this.#last.then(() => work(certificate))
    this.#last = done.catch(() => undefined)
    return done
  }

  async #change(certificate: HeldCertificate, keep: Keep): Promise<void> {
    if (certificate.pending !== undefined && (await this.#settle(certificate, keep))) return
    const { pending, ca } = await this.#issue(certificate)
    // The session may have begun again with a former pair.
    if (certificate.isConfirmed) certificate.settle()
    // From here on the controller confirms no other pair: a former pair can be given up.
    certificate.propose(pending, ca)
    try {
      await keep(this.#deviceOf(certificate))
    } catch (error) {
      certificate.forgetOther()
      throw error
    }
    if (await this.#settle(certificate, keep)) return
    throw new ConnectionFailure('NOT_ALLOWED', 'renewal: another program renewed the identity meanwhile')
  }

  /** Asks for a certificate of a new key. The controller takes it only from the certificate that is in force. */
  async #issue({ shown }: HeldCertificate) {
    return this.#settings.session.call('renewal', async (api) => {
      const params = { id: await certificateIdOf(api) }
      const { name } = (await api.call('GET /current-identity')).data
      const { key, csr } = await createSigningRequest(name)
      const body = { clientCertCsr: csr }
      const { data } = await api.call('POST /current-identity/authenticators/{id}/extend', { params, body })
      const pending: CertifiedKey = { key, cert: data.clientCert }
      return { pending, ca: nextBundle(shown.ca, data.ca) }
    })
  }

  /**
   * Has the pending pair confirmed, and keeps it alone. Answers false if the controller does not confirm it; a session that began with it
   * is a confirmation.
   */
  async #settle(certificate: HeldCertificate, keep: Keep): Promise<boolean> {
    const { session } = this.#settings
    const { pending } = certificate
    if (pending === undefined) return false
    if (!certificate.isConfirmed) {
      try {
        await session.call('renewal', async (api) => {
          const params = { id: await certificateIdOf(api) }
          const body = { clientCert: pending.cert }
          await api.call('POST /current-identity/authenticators/{id}/extend-verify', { params, body })
        })
      } catch (error) {
        // The session may have begun again with this pair.
        if (!certificate.isConfirmed) {
          if (isRefusal(error)) return false
          throw error
        }
      }
    }
    certificate.settle()
    try {
      await this.#keepAsItIs(certificate, keep)
    } finally {
      await session.changeCertificate()
    }
    return true
  }

  async #keepAsItIs(certificate: HeldCertificate, keep: Keep): Promise<void> {
    this.#isUnkept = true
    await keep(this.#deviceOf(certificate))
    this.#isUnkept = false
  }

  #deviceOf({ shown, other }: HeldCertificate): EnrolledDevice {
    const { controllers } = this.#settings
    const [controller = ''] = controllers
    return {
      ...{ controller, key: shown.key, cert: shown.cert, ca: shown.ca ?? '' },
      ...(controllers.length > 1 && { controllers }),
      ...(other && { pending: { key: other.key, cert: other.cert } }),
    }
  }

  async #isDue({ shown }: HeldCertificate): Promise<boolean> {
    if (isOld(shown.cert, runtime.now())) return true
    const { data } = await this.#settings.session.call('renewal', (api) => api.call('GET /current-api-session'))
    return data.isCertExtendRequested === true
  }
}

/** Whether the error means that no controller answers at present. */
function isOfAbsence(error: unknown): boolean {
  return error instanceof ConnectionFailure && ['CONTROLLER_UNREACHABLE', 'TIMED_OUT'].includes(error.code)
}

/** Whether the error means that the controller cannot confirm the pending certificate. */
function isRefusal(error: unknown): boolean {
  const { cause } = failureOf(error, 'renewal')
  return cause instanceof ApiError && [400, 404, 409].includes(cause.status)
}

/**
 * The next trust bundle: the bundle of the controller, unless the identity trusts other certificates, such as the certificate of a proxy or
 * the authorities of Node.
 */
function nextBundle(known: string | undefined, sent: string): string | undefined {
  if (known === undefined) return undefined
  const trusted = certificatesIn(known)
  return certificatesIn(sent).some((certificate) => trusted.includes(certificate)) ? sent : known
}

function certificatesIn(pem: string): readonly string[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return blocks.map((block) => block.replaceAll(/\s/g, ''))
}

/** The id of the authenticator with the certificate by which the session began. */
async function certificateIdOf(api: ApiClient<ClientApi>): Promise<string> {
  const { authenticatorId } = (await api.call('GET /current-api-session')).data
  if (authenticatorId) return authenticatorId
  const { data } = await api.call('GET /current-identity/authenticators', { query: { filter: 'method = "cert"' } })
  const [only, ...others] = data
  if (only !== undefined && others.length === 0) return only.id
  throw new ConnectionFailure('NOT_ALLOWED', 'renewal: the session does not tell by which certificate it began')
}

/** Whether a certificate, PEM with its intermediates, has passed most of its lifetime at `now`, epoch milliseconds. */
function isOld(cert: string, now: number): boolean {
  const { validFrom, validTo } = new X509Certificate(cert)
  const [from, until] = [Date.parse(validFrom), Date.parse(validTo)]
  return now >= from + (until - from) * RENEWED_AFTER
}
