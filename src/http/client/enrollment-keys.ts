import { z } from 'zod'
import { invalidField } from '../../domain/errors.ts'
import { defineOperation } from '../operation.ts'

/** The key by which a device knows its controller before it enrolls: published, and proved on a nonce (ruling R11). */
export const enrollmentKeyOperations = [
  defineOperation(
    {
      route: 'GET /enroll/jwks',
      summary: 'Shows the public keys that sign enrollment tokens, as a JSON Web Key Set',
      access: 'public',
      produces: 'application/json',
    },
    async ({ engine }) => ({ raw: JSON.stringify({ keys: [await engine.context.tokens.publicKey()] }) }),
  ),
  defineOperation(
    {
      route: 'POST /enroll/challenge',
      summary: 'Signs a nonce with an enrollment key, so that a device can tell its controller',
      access: 'public',
      body: z.object({ keyId: z.string().max(256), nonce: z.uuid() }),
      produces: 'application/json',
    },
    async ({ engine, body }) => {
      const { tokens, pki } = engine.context
      const { kid } = await tokens.publicKey()
      if (body.keyId !== kid) throw invalidField('keyId', 'no enrollment key has this id', body.keyId)
      const proof = await tokens.signNonce(body.nonce)
      return { raw: JSON.stringify({ ...proof, kid, caPool: pki.caBundlePem }) }
    },
  ),
] as const
