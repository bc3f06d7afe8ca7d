import type { CertifiedKey, Credentials } from './identity-file.ts'

/**
 * The key and certificate that an identity shows, and the pair that will replace them. Until a controller has confirmed the new pair, it
 * may take either pair: both are held and tried.
 */
export class HeldCertificate {
  #shown: Credentials
  #other: CertifiedKey | undefined
  #showsPending = false

  constructor(credentials: Credentials, pending?: CertifiedKey) {
    this.#shown = credentials
    this.#other = pending
  }

  /** The pair that connections show; another certificate is another object. */
  get shown(): Credentials {
    return this.#shown
  }

  /** The pair that is not shown, if there is one. */
  get other(): Credentials | undefined {
    return this.#other && { ...this.#other, ca: this.#shown.ca }
  }

  /** The issued pair whose confirmation is not known. */
  get pending(): CertifiedKey | undefined {
    return this.#showsPending ? pairOf(this.#shown) : this.#other
  }

  /** Whether the pending pair is shown: a controller admitted it, which confirms it. */
  get isConfirmed(): boolean {
    return this.#showsPending
  }

  /** Shows the other pair, with which a session began. A pair that is no longer held is ignored. */
  showOther({ cert }: Pick<Credentials, 'cert'>): void {
    if (this.#other?.cert !== cert) return
    const { other } = this
    this.#other = pairOf(this.#shown)
    if (other !== undefined) this.#shown = other
    this.#showsPending = !this.#showsPending
  }

  /** A controller issued the next pair, which is shown once it is confirmed, and sent its trust bundle. */
  propose(pending: CertifiedKey, ca: string | undefined): void {
    this.#shown = { ...this.#shown, ca }
    this.#other = pending
  }

  /** Drops the pair that is not shown: its arrival was never confirmed to a controller. */
  forgetOther(): void {
    this.#other = undefined
  }

  /** The pending pair is confirmed: the former pair is void. */
  settle(): void {
    if (!this.#showsPending && this.#other !== undefined) this.#shown = { ...this.#shown, ...this.#other }
    this.#other = undefined
    this.#showsPending = false
  }
}

function pairOf({ key, cert }: CertifiedKey): CertifiedKey {
  return { key, cert }
}
