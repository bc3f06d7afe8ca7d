import { z } from 'zod'
import { invalidField } from '../../domain/errors.ts'
import { described } from '../../resources/declaration/words.ts'
import { defineOperation } from '../operations/define-operation.ts'

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
