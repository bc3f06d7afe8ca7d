/** Kinds of keys that the network accepts, by the parameters that WebCrypto imports them with. */
export type KeyAlgorithm =
  | { readonly name: 'ECDSA'; readonly namedCurve: 'P-256' | 'P-384' | 'P-521' }
  | { readonly name: 'RSASSA-PKCS1-v1_5' }
  | { readonly name: 'Ed25519' }
