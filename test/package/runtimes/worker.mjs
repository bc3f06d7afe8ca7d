// The same where neither code out of strings nor WebAssembly is made: a judge of schemas and a hasher of the host's own.
import { Validator } from '@cfworker/json-schema'
import { story } from './program.mjs'

const jsonSchema = {
  problemOf: async () => undefined,
  violationOf: async (schema, value) => {
    // The validator writes into the schema that it is given.
    const { valid, errors } = new Validator(structuredClone(schema), '7').validate(value)
    return valid ? undefined : { path: [], requirement: errors[0].error, value }
  },
}

async function derive(password, salt) {
  const bytes = (text) => new TextEncoder().encode(text)
  const key = await crypto.subtle.importKey('raw', bytes(password), 'PBKDF2', false, ['deriveBits'])
  const parameters = { name: 'PBKDF2', hash: 'SHA-256', salt: bytes(salt), iterations: 100_000 }
  return new Uint8Array(await crypto.subtle.deriveBits(parameters, key, 256)).toHex()
}

const passwordHasher = {
  hash: async (password) => {
    const salt = crypto.randomUUID()
    return `pbkdf2:${salt}:${await derive(password, salt)}`
  },
  verify: async (password, verifier = 'pbkdf2:none:none') => {
    const [, salt, hash] = verifier.split(':')
    return (await derive(password, salt)) === hash
  },
  needsRehash: () => false,
}

const OPTIONS = { '/plain': {}, '/hasher': { passwordHasher }, '/both': { passwordHasher, jsonSchema } }

export default {
  fetch: async ({ url }) => {
    const told = story(OPTIONS[new URL(url).pathname]).catch((error) => String(error))
    return new Response(await told)
  },
}
