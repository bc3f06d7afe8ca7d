import type * as x509 from '@peculiar/x509'
import { describe, expect, it } from 'vitest'
// Internals: the implementation of a port, which controllers reach with few of these inputs.
import { loadLibrary } from '../../src/platform/x509/asn1-structures.ts'
import { isRoot, readCertificate } from '../../src/platform/x509/certificate.ts'
import { leadsToRoot } from '../../src/platform/x509/chain.ts'
import { derOf, issueAuthority, issueClient, now, pemOf } from '../support/certificates/certificates.ts'
import { type Chain, crossSigned } from '../support/certificates/chain-builders.ts'
import { openssl } from '../support/certificates/openssl.ts'
import { refusedChains, stricterChains } from '../support/certificates/refused-chains.ts'
import { trustedChains } from '../support/certificates/trusted-chains.ts'

const library = await loadLibrary()

const opensslTrusts = ({ leaf, sent, roots }: Chain): boolean => {
  const untrusted = sent.length > 0 ? ['-untrusted', 'sent.pem'] : []
  const trust = ['-no-CApath', '-no-CAstore', '-CAfile', 'roots.pem', ...untrusted]
  const demands = ['-purpose', 'sslclient', '-auth_level', '2', '-attime', `${now / 1000}`]
  const files = { 'leaf.pem': pemOf(leaf), 'sent.pem': pemOf(...sent), 'roots.pem': pemOf(...roots) }
  return openssl(['verify', ...trust, ...demands, 'leaf.pem'], files).succeeded
}

const readable = (certificates: readonly x509.X509Certificate[]) =>
  certificates.flatMap(({ rawData }) => {
    try {
      return [readCertificate(library, new Uint8Array(rawData))]
    } catch {
      return []
    }
  })

const weTrust = async (chain: Chain): Promise<boolean> => {
  const [leaf] = readable([chain.leaf.certificate])
  if (leaf === undefined) return false
  const candidates = readable(chain.roots.map(({ certificate }) => certificate))
  const trusted = await Promise.all(candidates.map(isRoot))
  const roots = candidates.filter((_, at) => trusted[at])
  return leadsToRoot(leaf, { roots, intermediates: readable(chain.sent.map(({ certificate }) => certificate)), now })
}

describe('A26: chain verification agrees with openssl verify', () => {
  it.each(trustedChains)('and trusts: %s', async (_, build) => {
    const chain = await build()
    expect({ openssl: opensslTrusts(chain), ours: await weTrust(chain) }).toEqual({ openssl: true, ours: true })
  })

  it.each(refusedChains)('and refuses: %s', async (_, build) => {
    const chain = await build()
    expect({ openssl: opensslTrusts(chain), ours: await weTrust(chain) }).toEqual({ openssl: false, ours: false })
  })
})

describe('A26: chain verification is stricter than openssl verify', () => {
  it.each(stricterChains)('and refuses: %s', async (_, build) => {
    const chain = await build()
    expect({ openssl: opensslTrusts(chain), ours: await weTrust(chain) }).toEqual({ openssl: true, ours: false })
  })
})

describe('path search', () => {
  it('finds the trusted issuer of a cross-signed authority in whatever order its certificates are sent', async () => {
    const chain = await crossSigned(false, true)
    expect(await weTrust({ ...chain, sent: chain.sent.toReversed() })).toBe(true)
  })

  it('tries another authority of the same name when the first did not sign', async () => {
    const root = await issueAuthority({ subject: 'CN=root', anonymousKeys: true })
    const request = { subject: 'CN=middle', issuer: root, anonymousKeys: true }
    const [right, ...wrong] = [
      await issueAuthority(request),
      await issueAuthority(request),
      await issueAuthority(request),
    ]
    const leaf = await issueClient({ issuer: right, anonymousKeys: true })
    expect(await weTrust({ leaf, sent: [...wrong, right], roots: [root] })).toBe(true)
  })

  it('gives up soon on a thicket of authorities that all vouch for each other', async () => {
    const first = await issueAuthority({ subject: 'CN=a', anonymousKeys: true })
    const others = ['CN=b', 'CN=c'].map((subject) => issueAuthority({ subject, anonymousKeys: true }))
    const members = [first, ...(await Promise.all(others))]
    const thicket = await Promise.all(
      members.flatMap((issuer) =>
        members.map(({ certificate, keys }) =>
          issueAuthority({ subject: certificate.subject, keys, issuer, anonymousKeys: true }),
        ),
      ),
    )
    const leaf = readCertificate(library, derOf(await issueClient({ issuer: first, anonymousKeys: true })))
    const root = readCertificate(library, derOf(await issueAuthority({ subject: 'CN=root' })))
    const intermediates = Array.from({ length: 20 }, () => thicket)
      .flat()
      .map((one) => readCertificate(library, derOf(one)))
    const start = performance.now()
    expect(await leadsToRoot(leaf, { roots: [root], intermediates, now })).toBe(false)
    expect(performance.now() - start).toBeLessThan(10_000)
  })
})
