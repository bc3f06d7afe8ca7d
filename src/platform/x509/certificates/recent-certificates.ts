import type { Certificate } from './certificate.ts'

/** Certificates that were in use lately, so many at most: beyond, the one that was not used for the longest time goes. */
export class RecentCertificates {
  readonly #limit: number
  /** In the order of use, oldest first. */
  readonly #byPem = new Map<string, Certificate>()

  constructor(limit: number) {
    this.#limit = limit
  }

  get(pem: string): Certificate | undefined {
    return this.#byPem.get(pem)
  }

  add(certificate: Certificate): void {
    this.#byPem.delete(certificate.pem)
    this.#byPem.set(certificate.pem, certificate)
    const [oldest] = this.#byPem.keys()
    if (oldest !== undefined && this.#byPem.size > this.#limit) this.#byPem.delete(oldest)
  }
}
