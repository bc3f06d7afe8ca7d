const MINUTE_MS = 60_000
/** When the controller ends a session that nobody uses. */
const IDLE_MS = 30 * MINUTE_MS
const LIMITS = [
  { failures: 10, withinMs: 5 * MINUTE_MS },
  { failures: 50, withinMs: 24 * 60 * MINUTE_MS },
]

export interface Session {
  alive: boolean
  usedAt: number
  required: boolean
  passed: boolean
}

export type Code = 'right' | 'wrong' | 'recovery'

/** The rules of the interface document for one identity, one CA and what they hold, as naively as they can be said. */
export class CredentialModel {
  now: number
  disabled = false
  mfa: 'none' | 'pending' | 'complete' = 'none'
  step = -1
  recoveryCodesLeft = 0
  failures: number[] = []
  enrollment: { expiresAt: number } | undefined
  /** `extended` while the next certificate waits for its confirmation. */
  certificate: 'none' | 'current' | 'extended' = 'none'
  caVerified = false
  readonly sessions: Session[] = []

  constructor(now: number) {
    this.now = now
  }

  login(): number {
    if (this.disabled) return 401
    this.sessions.push({ alive: true, usedAt: this.now, required: this.mfa === 'complete', passed: false })
    return 200
  }

  /** A live session that is used now. */
  use(index: number): Session | undefined {
    const session = this.sessions[index]
    if (session === undefined || !session.alive || this.disabled || this.now - session.usedAt >= IDLE_MS)
      return undefined
    session.usedAt = this.now
    return session
  }

  end(index: number): number {
    const session = this.use(index)
    if (session === undefined) return 401
    session.alive = false
    return 200
  }

  disable(): number {
    this.disabled = true
    for (const session of this.sessions) session.alive = false
    return 200
  }

  enable(): number {
    this.disabled = false
    return 200
  }

  look(index: number): number {
    return this.use(index) === undefined ? 401 : 200
  }

  act(index: number): number {
    const session = this.use(index)
    return session === undefined || (session.required && !session.passed) ? 401 : 200
  }

  beginMfa(index: number): number {
    if (this.use(index) === undefined) return 401
    if (this.mfa !== 'none') return 409
    this.mfa = 'pending'
    this.step = -1
    this.failures = []
    this.recoveryCodesLeft = 20
    return 201
  }

  verifyMfa(index: number, code: Code): number {
    const session = this.use(index)
    if (session === undefined) return 401
    if (this.mfa !== 'pending') return 404
    const status = this.#try(code, false)
    if (status !== 200) return status
    this.mfa = 'complete'
    Object.assign(session, { required: true, passed: true })
    return 200
  }

  passMfa(index: number, code: Code): number {
    const session = this.use(index)
    if (session === undefined) return 401
    if (this.mfa !== 'complete') return 409
    const status = this.#try(code, true)
    if (status === 200) Object.assign(session, { required: true, passed: true })
    return status
  }

  endMfa(index: number, code: Code): number {
    const allowed = this.act(index)
    if (allowed !== 200) return allowed
    if (this.mfa === 'none') return 404
    const status = this.mfa === 'pending' ? 200 : this.#try(code, true)
    if (status === 200) this.removeMfa()
    return status
  }

  removeMfa(): number {
    this.mfa = 'none'
    for (const session of this.sessions)
      if (session.required) Object.assign(session, { required: false, passed: false })
    return 200
  }

  invite(ms: number): number {
    if (this.enrollment !== undefined) return 409
    this.enrollment = { expiresAt: this.now + ms }
    return 201
  }

  refresh(ms: number): number {
    if (this.enrollment === undefined) return 404
    this.enrollment = { expiresAt: this.now + ms }
    return 200
  }

  enroll(isCurrentToken: boolean): number {
    if (!isCurrentToken || this.enrollment === undefined || this.enrollment.expiresAt <= this.now) return 400
    this.enrollment = undefined
    this.certificate = 'current'
    return 200
  }

  certificateLogin(which: 'current' | 'previous' | 'next'): number {
    return which === 'current' && this.certificate !== 'none' && !this.disabled ? 200 : 401
  }

  extend(): number {
    if (!this.#holdsCertificate()) return 401
    this.certificate = 'extended'
    return 200
  }

  confirm(isNext: boolean): number {
    if (!this.#holdsCertificate()) return 401
    if (this.certificate === 'current') return 409
    if (!isNext) return 400
    this.certificate = 'current'
    return 200
  }

  verifyCa(isRight: boolean): number {
    if (this.caVerified) return 409
    this.caVerified = isRight
    return isRight ? 200 : 400
  }

  /** A fresh session by certificate may act, unless it has a second factor to prove. */
  #holdsCertificate(): boolean {
    return this.certificate !== 'none' && !this.disabled && this.mfa !== 'complete'
  }

  /** A right code is good once in its step; wrong ones count, and too many close the door. */
  #try(code: Code, takesRecovery: boolean): number {
    const isShut = LIMITS.some(
      ({ failures, withinMs }) => this.failures.filter((at) => this.now - at < withinMs).length >= failures,
    )
    if (isShut) return 429
    const step = Math.floor(this.now / 30_000)
    const isRight =
      (code === 'right' && step > this.step) || (code === 'recovery' && takesRecovery && this.recoveryCodesLeft > 0)
    if (!isRight) {
      this.failures.push(this.now)
      return 400
    }
    if (code === 'right') this.step = step
    else this.recoveryCodesLeft -= 1
    this.failures = []
    return 200
  }
}
