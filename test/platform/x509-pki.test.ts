import { execFileSync } from 'node:child_process'
import { webcrypto, X509Certificate } from 'node:crypto'
import { createPkiMaterial } from 'portcullis'
import { describe, expect, it } from 'vitest'
// Internals: the implementation of a port, which controllers reach with few of these inputs.
import { createX509Pki } from '../../src/platform/x509/x509-pki.ts'
import { createCsrPem, now } from '../support/certificates/certificates.ts'

/** The WebCrypto of the runtime, with a list of the calls to it. */
const recorded = () => {
  const calls: string[] = []
  const recording = <T extends object>(target: T): T =>
    new Proxy(target, {
      get: (_, name) => {
        const value = Reflect.get(target, name)
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => {
          calls.push(String(name))
          return Reflect.apply(value, target, args)
        }
      },
    })
  const subtle = recording(webcrypto.subtle)
  const random = recording(webcrypto)
  const crypto: webcrypto.Crypto = {
    subtle,
    getRandomValues: (array) => random.getRandomValues(array),
    randomUUID: () => random.randomUUID(),
  }
  return { calls, crypto }
}

const createNetwork = async () => {
  const { calls, crypto } = recorded()
  const material = await createPkiMaterial({ hosts: ['localhost'], trustDomain: 'example.org', now, crypto })
  const pki = await createX509Pki(material, { crypto })
  const enroll = async () => {
    const csrPem = await createCsrPem()
    const issued = await pki.issueClientCertificate({ csrPem, spiffeId: 'spiffe://example.org/identity/abc', now })
    if (!issued.issued) throw new Error(`refused: ${issued.problem}`)
    return (issued.chainPem.match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/g) ?? []).map(
      (pem) => new Uint8Array(new X509Certificate(pem).raw),
    )
  }
  return { calls, pki, enroll }
}

const recordedDuring = async (calls: string[], act: () => Promise<unknown>): Promise<string[]> => {
  const before = calls.length
  await act()
  return calls.slice(before).toSorted()
}

describe('a login with a certificate', () => {
  it('costs one signature check and one digest once the key of the issuer is imported', async () => {
    const { calls, pki, enroll } = await createNetwork()
    await pki.verifyClientChain(await enroll(), now)
    const chain = await enroll()
    const spent = await recordedDuring(calls, () => pki.verifyClientChain(chain, now))
    expect(spent).toEqual(['digest', 'verify'])
  })
})

describe('the WebCrypto of the options', () => {
  it('makes the keys, serial numbers and signatures of a network', async () => {
    const { calls, enroll } = await createNetwork()
    expect(calls.filter((name) => name === 'generateKey')).toHaveLength(3)
    const spent = await recordedDuring(calls, enroll)
    expect(spent).toEqual(['digest', 'getRandomValues', 'importKey', 'sign', 'verify'])
  })
})

it('loads the X.509 library when an authority is created, not when the module is imported', () => {
  const program = `
    import { createRequire } from 'node:module'
    const isLoaded = () => Object.keys(createRequire(import.meta.url).cache).some((path) => path.includes('@peculiar/x509/'))
    const { createPkiMaterial } = await import('./src/platform/pki-material.ts')
    await import('./src/platform/x509/x509-pki.ts')
    const before = isLoaded()
    await createPkiMaterial({ hosts: [], trustDomain: 'example.org', now: 0 })
    console.log(before, isLoaded())
  `
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' })
  expect(output.trim()).toBe('false true')
})
