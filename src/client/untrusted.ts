/** Certificates that OpenSSL cannot lead to one that it trusts. */
const UNTRUSTED = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]

/** Reports whether a request failed because the certificate of who answered is not trusted. */
export function isUntrusted(error: unknown): error is Error {
  return error instanceof Error && UNTRUSTED.includes(String(Reflect.get(error, 'code')))
}

/** The same failure with advice, where it is that of the `fetch` of a runtime, which tells the reason in its cause. */
export function withAdviceOnTrust(error: unknown): unknown {
  if (!(error instanceof Error) || !isUntrusted(error.cause)) return error
  const advice = 'pass fetch: httpsFetch({ ca }) of portcullis/node'
  return new TypeError(`the controller's certificate is not trusted: ${advice}`, { cause: error.cause })
}
