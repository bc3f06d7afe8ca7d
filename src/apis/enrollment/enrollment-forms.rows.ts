import { z } from 'zod'
import { invalidField } from '../../base/errors.ts'
import { Password } from '../../facts/credentials/authenticator.resource.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'
import { Pem } from '../../kernel/declaration/fields.ts'
import { described } from '../../kernel/declaration/words.ts'
import { Controller } from '../network/controllers.rows.ts'

const CERTIFICATES = {
  ca: 'The CA certificates to trust, PEM.',
  cert: 'The client certificate that was issued, with its intermediates, PEM.',
  serverCert: 'The server certificate that was issued to a router, with its intermediates, PEM.',
} as const
const CONTROLLERS = 'The controllers of the network, where the identity may log in.'
/** The certificate and the controllers that an identity gets. */
export const Enrolled = described(
  z.object({
    ca: z.string().optional(),
    cert: z.string(),
    controllers: z.array(Controller).optional(),
    serverCert: z.string().optional(),
  }),
  { ...CERTIFICATES, controllers: CONTROLLERS },
)
/** The controllers that an identity with a certificate of a third party gets. */
export const EnrolledByCertificate = described(z.object({ controllers: z.array(Controller) }), {
  controllers: CONTROLLERS,
})
/** The controllers and the username that an identity gets after choosing a password. */
export const EnrolledByPassword = described(EnrolledByCertificate.extend({ username: z.string() }), {
  controllers: CONTROLLERS,
  username: 'The username to log in with.',
})
/** The members that an enrolled identity gets; the method decides which of them are present. */
export const EnrolledSomehow = described(Enrolled.partial().extend({ username: z.string().optional() }), {
  ...CERTIFICATES,
  controllers: 'The controllers of the network, for identities.',
  username: 'The username to log in with, for `updb`.',
})
/** The certificates that a router gets. */
export const EnrolledRouter = described(
  z.object({ ca: z.string(), cert: z.string(), serverCert: z.string() }),
  CERTIFICATES,
)

/** Descriptions of the members of enrollment bodies. */
export const REQUESTS = {
  token: 'The one-time token of the enrollment.',
  password: 'The password to log in with from then on, 5 to 100 characters that fulfil the auth policy.',
  username: 'Not looked at: the username is that of the enrollment.',
  clientCsr: 'The signing request for the client certificate, PEM.',
  certCsr: 'The signing request for the client certificate of a router, PEM.',
  serverCsr: 'The signing request for the server certificate, PEM.',
  serverCertCsr: 'The signing request for the server certificate of a router, PEM.',
} as const

/** The members that any of the methods needs. */
export const EnrollBody = described(
  z.object({
    name: z.string().optional(),
    username: z.string().optional(),
    password: Password.optional(),
    clientCsr: Pem.optional(),
    certCsr: Pem.optional(),
    serverCertCsr: Pem.optional(),
  }),
  {
    name: 'A name for the new identity, for `ca`; the CA says how it is used.',
    ...REQUESTS,
  },
)

const KeySet = described(z.object({ keys: z.array(z.record(z.string(), z.unknown())) }), {
  keys: 'The public keys as JSON Web Keys: the key type `kty`, the id `kid`, and what belongs to the type.',
})

const Proof = described(
  z.object({ algorithm: z.string(), caPool: z.string(), kid: z.string(), signature: z.string() }),
  {
    algorithm: 'How the nonce was signed.',
    caPool: 'The CA certificates to trust, PEM.',
    kid: 'The id of the key that signed.',
    signature: 'The signature of the nonce, base64.',
  },
)

/** The key by which a device knows its controller before it enrolls: published, and proved on a nonce. */
export const enrollmentKeyOperations = [
  defineOperation(
    {
      route: 'GET /enroll/jwks',
      summary: 'Shows the public keys that sign enrollment tokens, as a JSON Web Key Set',
      access: 'public',
      data: KeySet,
      produces: 'application/json',
    },
    async ({ engine }) => ({ data: { keys: [await engine.network.publicKey()] } }),
  ),
  defineOperation(
    {
      route: 'POST /enroll/challenge',
      summary: 'Signs a nonce with an enrollment key, so that a device can tell its controller',
      description: 'The signature covers the nonce, and a key of `/enroll/jwks` verifies it.',
      access: 'public',
      body: described(z.object({ keyId: z.string().max(256), nonce: z.uuid() }), {
        keyId: 'The id (`kid`) of the enrollment key that is to sign.',
        nonce: 'A UUID that the caller made up for this.',
      }),
      data: Proof,
      produces: 'application/json',
    },
    async ({ engine, body }) => {
      const { network } = engine
      const { kid } = await network.publicKey()
      if (body.keyId !== kid) throw invalidField('keyId', 'no enrollment key has this id', body.keyId)
      const proof = await network.signNonce(body.nonce)
      return { data: { ...proof, kid, caPool: network.caPem } }
    },
  ),
] as const
