import type { CertifiedKey, Credentials } from './identity-file.ts'

/**
 * The key and certificate that an identity shows, and those that take their place. While a controller has not confirmed the latter,
 * nobody knows for sure which of both it takes: both are held, and tried.
 */
export class HeldCertificate {
  #shown: Credentials
  #other: CertifiedKey | undefined
  #showsPending = false

  constructor(credentials: Credentials, pending?: CertifiedKey) {
    this.#shown = credentials
    this.#other = pending
  }

  /** The pair that connections show; another object when it is another certificate. */
  get shown(): Credentials {
    return this.#shown
  }

  /** The pair that is not shown, if there is one. */
  get other(): Credentials | undefined {
    return this.#other && { ...this.#other, ca: this.#shown.ca }
  }

  /** The pair that was issued and is not known to be confirmed. */
  get pending(): CertifiedKey | undefined {
    return this.#showsPending ? pairOf(this.#shown) : this.#other
  }

  /** Whether the pending pair is shown: a controller let it in, which confirms it. */
  get isConfirmed(): boolean {
    return this.#showsPending
  }

  /** Shows the other pair, with which a session began. A pair that is held no more stays away. */
  showOther({ cert }: Pick<Credentials, 'cert'>): void {
    if (this.#other?.cert !== cert) return
    const { other } = this
    this.#other = pairOf(this.#shown)
    if (other !== undefined) this.#shown = other
    this.#showsPending = !this.#showsPending
  }

  /** A controller issued the next pair, which is shown once it is confirmed, and told its trust bundle. */
  propose(pending: CertifiedKey, ca: string | undefined): void {
    this.#shown = { ...this.#shown, ca }
    this.#other = pending
  }

  /** The pair that is not shown is held no more: nobody was told of it. */
  forgetOther(): void {
    this.#other = undefined
  }

  /** The pending pair is confirmed: the one before is void. */
  settle(): void {
    if (!this.#showsPending && this.#other !== undefined) this.#shown = { ...this.#shown, ...this.#other }
    this.#other = undefined
    this.#showsPending = false
  }
}

function pairOf({ key, cert }: CertifiedKey): CertifiedKey {
  return { key, cert }
}
