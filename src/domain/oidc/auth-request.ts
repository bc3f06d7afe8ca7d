import type { LetIn, SignerProof } from '../login/login-basis.ts'

/** What a client asked for as it sent somebody to log in. */
export interface ClientRequest {
  readonly clientId: string
  readonly redirectUri: string
  readonly scopes: readonly string[]
  readonly state: string | null
  readonly nonce: string | null
  readonly codeChallenge: string
  /** Config types by id or name, or `all`. */
  readonly configTypes: readonly string[]
  readonly remoteAddress: string
}

/** Who logged in, by what, and what was proved besides. It speaks of one identity: another one begins anew. */
export interface RequestLogin extends LetIn {
  readonly identityId: string
  /** Every method by which the identity logged in on this request, the last one included. */
  readonly methods: readonly string[]
  /** Epoch milliseconds. */
  readonly at: number
  /** SHA-1 of the certificate that logged in, to which the tokens are bound; null for other methods. */
  readonly fingerprint: string | null
  /** True when the auth policy takes certificates that have expired. */
  readonly mayHaveExpired: boolean
  readonly isCertExtendable: boolean
  readonly isExtendRequested: boolean
  readonly isKeyRollRequested: boolean
  readonly improper: boolean
  readonly configTypes: readonly string[]
  readonly envInfo: object | null
  readonly sdkInfo: object | null
  /** A signing request for a certificate of the session. */
  readonly csrPem: string | null
  readonly hasPassedTotp: boolean
  /** The external signer whose token proved the second factor. */
  readonly provenSigner: SignerProof | null
}

/** A login after another one on the same request: what was proved for one identity never counts for another. */
export function nextLogin(before: RequestLogin | null, next: RequestLogin): RequestLogin {
  if (before === null || before.identityId !== next.identityId) return next
  return {
    ...next,
    methods: [...new Set([...before.methods, ...next.methods])],
    hasPassedTotp: before.hasPassedTotp || next.hasPassedTotp,
    provenSigner: next.provenSigner ?? before.provenSigner,
    csrPem: next.csrPem ?? before.csrPem,
  }
}

/** How the identity authenticated, as tokens say it: `password`, `cert`, `ext-jwt`, `totp`, `ejs:` and a signer's id. */
export function methodsOf({ methods, hasPassedTotp, provenSigner }: RequestLogin): readonly string[] {
  return [
    ...methods,
    ...(hasPassedTotp ? ['totp'] : []),
    ...(provenSigner === null ? [] : [`ejs:${provenSigner.signerId}`]),
  ]
}

/** A login at an external provider that somebody was sent to from the login page. */
export interface SignerLogin {
  readonly signerId: string
  /** SHA-256 of what the provider gives back, and of what the browser keeps meanwhile: both have to come again. */
  readonly stateDigest: string
  readonly browserDigest: string
  readonly nonce: string
  /** The proof key, sealed. */
  readonly sealedVerifier: string
}
