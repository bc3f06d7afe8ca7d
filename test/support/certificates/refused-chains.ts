import * as x509 from '@peculiar/x509'
import {
  authority,
  authorityExtensions,
  authorityUsage,
  clientExtensions,
  clientPurpose,
  clientUsage,
  createKeys,
  day,
  issue,
  issueAuthority,
  issueClient,
  now,
  purpose,
} from './certificates.ts'
import {
  below,
  type ChainCase,
  crossSigned,
  excluding,
  named,
  namesake,
  naming,
  permitting,
  tampered,
  unknownExtension,
  valid,
  withAuthority,
  withLeaf,
} from './chain-builders.ts'
import { permittedNames } from './name-constraints.ts'

const { serverAuth, codeSigning } = x509.ExtendedKeyUsage
const flags = x509.KeyUsageFlags

/** Chains that must not be trusted, one flaw each. */
export const refusedChains: readonly ChainCase[] = [
  [
    'unknown root',
    async () => ({
      ...(await below({}, [{}])),
      roots: [await issueAuthority({ subject: 'CN=root' })],
    }),
  ],
  [
    'unknown root, sent along',
    async () => {
      const chain = await below({}, [{}])
      return {
        ...chain,
        sent: [...chain.sent, ...chain.roots],
        roots: [await issueAuthority({ subject: 'CN=trusted' })],
      }
    },
  ],
  ['self-signed leaf', async () => ({ ...(await below({})), leaf: await issueClient() })],
  ['missing authority', async () => ({ ...(await below({}, [{}])), sent: [] })],
  [
    'missing authority in the middle',
    async () => {
      const chain = await below({}, [{}, {}])
      return { ...chain, sent: chain.sent.slice(0, 1) }
    },
  ],
  ['expired root', () => below({ notBefore: now - 3 * day, notAfter: now - day }, [{}])],
  ['expired authority', () => below({}, [{ notBefore: now - 3 * day, notAfter: now - 1000 }])],
  ['authority that is not valid yet', () => below({}, [{ notBefore: now + 1000 }])],
  ['authority valid from a malformed time on', () => valid('26q115120000Z', '270115120000Z')],
  ['authority valid from a time without seconds on', () => valid('2501151200Z', '270115120000Z')],
  ['authority valid from another time zone on', () => valid('250115120000+0100', '270115120000Z')],
  ['authority valid until a day that never comes', () => valid('250115120000Z', '270231120000Z')],
  ['path length 0 exceeded', () => below({}, [{ pathLength: 0 }, {}])],
  ['path length 1 exceeded', () => below({}, [{ pathLength: 1 }, {}, {}])],
  ['path length of the root exceeded', () => below({ pathLength: 0 }, [{}])],
  ['authority without basic constraints', () => withAuthority()],
  ['authority by key usage alone', () => withAuthority(authorityUsage())],
  ['authority that is declared none', () => withAuthority(new x509.BasicConstraintsExtension(false, undefined, true))],
  [
    'authority that may not sign certificates',
    () => withAuthority(authority(), new x509.KeyUsagesExtension(flags.digitalSignature | flags.cRLSign, true)),
  ],
  ['authority restricted to servers', () => withAuthority(...authorityExtensions(), purpose(serverAuth))],
  ['root restricted to servers', () => below({ extensions: [...authorityExtensions(), purpose(serverAuth)] }, [{}])],
  ['leaf for servers', () => withLeaf(clientUsage(), purpose(serverAuth))],
  ['leaf for code signing', () => withLeaf(clientUsage(), purpose(codeSigning))],
  ['leaf for any purpose, which names no purpose', () => withLeaf(clientUsage(), purpose('2.5.29.37.0'))],
  ['leaf that may only sign certificates', () => withLeaf(authorityUsage(), clientPurpose())],
  ['leaf that may only encipher keys', () => withLeaf(new x509.KeyUsagesExtension(flags.keyEncipherment, true))],
  [
    'leaf issued by a leaf',
    async () => {
      const chain = await below({}, [{}])
      return {
        ...chain,
        leaf: await issueClient({ subject: 'CN=second', issuer: chain.leaf }),
        sent: [chain.leaf, ...chain.sent],
      }
    },
  ],
  ['signed by a namesake with another key', () => namesake(true)],
  ['issued by a namesake that key identifiers tell apart', () => namesake(false)],
  ['signed with a key that is not the issuer’s', async () => below({}, [{}], { signedWith: await createKeys() })],
  ['authority signed with a key that is not the root’s', async () => below({}, [{ signedWith: await createKeys() }])],
  [
    'tampered leaf',
    async () => {
      const chain = await below({}, [{}])
      return { ...chain, leaf: tampered(chain.leaf) }
    },
  ],
  [
    'tampered authority',
    async () => {
      const chain = await below({}, [{}])
      return { ...chain, sent: chain.sent.map(tampered) }
    },
  ],
  ['leaf signed over SHA-1', () => below({}, [{}], { hash: 'SHA-1' })],
  ['authority signed over SHA-1', () => below({}, [{ hash: 'SHA-1' }])],
  ['RSA authority of 1024 bits', () => below({}, [{ kind: 'RSA-1024' }])],
  ['RSA leaf of 1024 bits', () => below({}, [{}], { kind: 'RSA-1024' })],
  ['unknown critical extension in the leaf', () => withLeaf(...clientExtensions(), unknownExtension(true))],
  ['unknown critical extension in an authority', () => withAuthority(...authorityExtensions(), unknownExtension(true))],
  ['cross-signed authority, no issuer trusted', () => crossSigned(false, false)],
  ['outside the permitted DNS subtree', () => permitting({ dns: 'example.com' }, named('dns', 'example.org'))],
  [
    'a domain that only ends like the permitted one',
    () => permitting({ dns: 'example.com' }, named('dns', 'badexample.com')),
  ],
  [
    'common name that reads as a host outside the permitted subtree',
    () => permitting({ dns: 'example.com' }, { subject: 'CN=www.example.org' }),
  ],
  ['inside an excluded DNS subtree', () => excluding({ dns: 'example.com' }, named('dns', 'a.EXAMPLE.com'))],
  ['another URI host', () => permitting({ uri: 'example.org' }, named('url', 'spiffe://example.net/identity/a'))],
  [
    'a URI host below the permitted one',
    () => permitting({ uri: 'example.org' }, named('url', 'https://a.example.org/')),
  ],
  ['excluded URI hosts', () => excluding({ uri: '.example.org' }, named('url', 'https://a.example.org:443/x'))],
  ['another mail host', () => permitting({ email: 'example.com' }, named('email', 'a@example.org'))],
  ['another mailbox', () => permitting({ email: 'a@example.com' }, named('email', 'b@example.com'))],
  [
    'mail address in the subject',
    () => permitting({ email: 'example.com' }, { subject: '1.2.840.113549.1.9.1=a@example.org, CN=leaf' }),
  ],
  ['another address', () => permitting({ ip: [10, 0, 0, 0, 255, 0, 0, 0] }, named('ip', '11.0.0.1'))],
  [
    'an IPv6 address where IPv4 is permitted',
    () => permitting({ ip: [10, 0, 0, 0, 255, 0, 0, 0] }, named('ip', 'fd00::1')),
  ],
  ['excluded address', () => excluding({ ip: [10, 0, 0, 0, 255, 0, 0, 0] }, named('ip', '10.0.0.1'))],
  ['another organization', () => permitting({ directory: 'O=Example' }, { subject: 'O=Other, CN=leaf' })],
  [
    'excluded organization in other case',
    () => excluding({ directory: 'O=Example' }, { subject: 'O=EXAMPLE, CN=leaf' }),
  ],
  [
    'constraint in the root',
    () =>
      below(
        { extensions: [...authorityExtensions(), permittedNames({ dns: 'example.com' })] },
        [{}],
        named('dns', 'example.org'),
      ),
  ],
  [
    'authority outside the constraints of its issuer',
    () =>
      below(
        { extensions: [...authorityExtensions(), permittedNames({ directory: 'O=Example' })] },
        [{ subject: 'O=Other' }],
        {
          subject: 'O=Example, CN=leaf',
        },
      ),
  ],
  [
    'authority named by another serial number',
    async () => {
      const root = await issueAuthority({ subject: 'CN=root' })
      return { leaf: await issueClient(naming(root, '0123')), sent: [], roots: [root] }
    },
  ],
  [
    'rightly signed, but named by the key identifier of another key',
    async () => {
      const root = await issueAuthority({ subject: 'CN=root' })
      const extensions = [...clientExtensions(), new x509.AuthorityKeyIdentifierExtension('01'.repeat(20))]
      return { leaf: await issueClient({ issuer: root, anonymousKeys: true, extensions }), sent: [], roots: [root] }
    },
  ],
]

/** Chains that openssl lets pass and a controller should not. */
export const stricterChains: readonly ChainCase[] = [
  [
    'a root presented as the client',
    async () => {
      const root = await issue({ subject: 'CN=root', extensions: [authority()] })
      return { leaf: root, sent: [], roots: [root] }
    },
  ],
  [
    'excluded domain hidden behind a trailing dot',
    () => excluding({ dns: 'example.com' }, named('dns', 'example.com.')),
  ],
  [
    'addresses under a mask that is no prefix, which RFC 5280 does not allow',
    () => permitting({ ip: [10, 0, 0, 0, 255, 0, 255, 0] }, named('ip', '10.9.0.7')),
  ],
]
