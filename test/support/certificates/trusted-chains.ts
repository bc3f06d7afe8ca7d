import * as x509 from '@peculiar/x509'
import {
  authority,
  authorityExtensions,
  clientExtensions,
  clientPurpose,
  clientUsage,
  issueAuthority,
  issueClient,
  purpose,
} from './certificates.ts'
import {
  below,
  type ChainCase,
  changed,
  crossSigned,
  excluding,
  named,
  naming,
  ofKind,
  permitting,
  unknownExtension,
  valid,
  withAuthority,
  withLeaf,
} from './chain-builders.ts'
import { element, octetString, sequence } from './der.ts'

const { clientAuth, serverAuth } = x509.ExtendedKeyUsage
const flags = x509.KeyUsageFlags

/** Chains that lead to a trusted root. */
export const trustedChains: readonly ChainCase[] = [
  [
    'authority named by issuer and serial number',
    async () => {
      const root = await issueAuthority({ subject: 'CN=root' })
      return { leaf: await issueClient(naming(root, root.certificate.serialNumber)), sent: [], roots: [root] }
    },
  ],
  ['leaf below the root', () => below({})],
  ['one authority between', () => below({}, [{}])],
  ['two authorities between', () => below({}, [{}, {}])],
  ['five authorities between', () => below({}, [{}, {}, {}, {}, {}])],
  ['path length 0 with a leaf below', () => below({}, [{ pathLength: 0 }])],
  ['path length 1 with one authority below', () => below({ pathLength: 2 }, [{ pathLength: 1 }, { pathLength: 0 }])],
  [
    'a self-issued authority does not count against the path length',
    async () => {
      const chain = await below({}, [{ pathLength: 0, subject: 'CN=rolling' }])
      const renewed = await issueAuthority({ subject: 'CN=rolling', ...(chain.sent[0] && { issuer: chain.sent[0] }) })
      return { ...chain, leaf: await issueClient({ issuer: renewed }), sent: [renewed, ...chain.sent] }
    },
  ],
  [
    'authorities sent in the wrong order',
    async () => {
      const chain = await below({}, [{}, {}, {}])
      return { ...chain, sent: chain.sent.toReversed() }
    },
  ],
  [
    'an unrelated certificate sent along',
    async () => {
      const chain = await below({}, [{}])
      return { ...chain, sent: [await issueAuthority({ subject: 'CN=unrelated' }), ...chain.sent] }
    },
  ],
  [
    'authorities sent twice, and the root',
    async () => {
      const chain = await below({}, [{}, {}])
      return { ...chain, sent: [...chain.sent, ...chain.sent, ...chain.roots] }
    },
  ],
  [
    'several roots',
    async () => {
      const chain = await below({}, [{}])
      return { ...chain, roots: [await issueAuthority({ subject: 'CN=other root' }), ...chain.roots] }
    },
  ],
  [
    'two roots of the same name, told apart by key identifiers',
    async () => {
      const chain = await below({}, [{}])
      return { ...chain, roots: [await issueAuthority({ subject: 'CN=root' }), ...chain.roots] }
    },
  ],
  [
    'no key identifiers anywhere',
    () => below({ anonymousKeys: true }, [{ anonymousKeys: true }], { anonymousKeys: true }),
  ],
  ['P-384 keys', () => ofKind('P-384', 'SHA-384')],
  ['P-521 keys', () => ofKind('P-521', 'SHA-512')],
  ['RSA keys of 2048 bits', () => ofKind('RSA-2048')],
  ['RSA keys with SHA-384', () => ofKind('RSA-2048', 'SHA-384')],
  ['RSA keys with SHA-512', () => ofKind('RSA-2048', 'SHA-512')],
  ['Ed25519 keys', () => ofKind('Ed25519')],
  ['mixed keys', () => below({ kind: 'RSA-2048' }, [{ kind: 'Ed25519' }, { kind: 'P-521', hash: 'SHA-256' }])],
  ['leaf without extended key usage', () => withLeaf(clientUsage())],
  ['leaf without any extension of its own', () => withLeaf()],
  ['leaf for clients and servers', () => withLeaf(clientUsage(), purpose(serverAuth, clientAuth))],
  ['leaf for key agreement', () => withLeaf(new x509.KeyUsagesExtension(flags.keyAgreement, true), clientPurpose())],
  ['authority restricted to clients', () => withAuthority(...authorityExtensions(), clientPurpose())],
  ['authority without key usage', () => withAuthority(authority())],
  [
    'critical alternative name',
    () =>
      withLeaf(
        ...clientExtensions(),
        new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: 'a.example.com' }], true),
      ),
  ],
  [
    'critical certificate policies',
    () => withLeaf(...clientExtensions(), new x509.CertificatePolicyExtension(['1.2.3.4'], true)),
  ],
  ['unknown extension that is not critical', () => withLeaf(...clientExtensions(), unknownExtension(false))],
  [
    'extension that says in so many words that it is not critical',
    async () => {
      const root = await issueAuthority({ subject: 'CN=root' })
      const keyUsage = sequence(
        element(0x06, Uint8Array.of(0x55, 0x1d, 15)),
        element(0x01, Uint8Array.of(0)),
        octetString(element(0x03, Uint8Array.of(7, 0x80))),
      )
      const leaf = await issueClient({ issuer: root })
      const extensions = element(0xa3, sequence(keyUsage))
      return { leaf: await changed(leaf, root, (fields) => fields.with(7, extensions)), sent: [], roots: [root] }
    },
  ],
  ['authority valid from one instant to another', () => valid('250115120000Z', '270115120000Z')],
  ['cross-signed authority, both issuers trusted', () => crossSigned(true, true)],
  ['cross-signed authority, only the old issuer trusted', () => crossSigned(true, false)],
  ['cross-signed authority, only the new issuer trusted', () => crossSigned(false, true)],
  ['permitted DNS subtree', () => permitting({ dns: 'example.com' }, named('dns', 'a.Example.com'))],
  ['permitted DNS subtree, the domain itself', () => permitting({ dns: 'example.com' }, named('dns', 'example.com'))],
  ['a name of a kind that is not compared', () => permitting({ dns: 'example.com' }, named('upn', 'a@example.org'))],
  ['permitted URI host', () => permitting({ uri: 'example.org' }, named('url', 'spiffe://example.org/identity/a'))],
  ['permitted URI hosts below', () => permitting({ uri: '.example.org' }, named('url', 'https://a.example.org/x'))],
  ['permitted mail host', () => permitting({ email: 'example.com' }, named('email', 'a@example.com'))],
  ['permitted mailbox', () => permitting({ email: 'a@example.com' }, named('email', 'a@EXAMPLE.com'))],
  ['permitted addresses', () => permitting({ ip: [10, 0, 0, 0, 255, 0, 0, 0] }, named('ip', '10.9.8.7'))],
  ['permitted directory subtree', () => permitting({ directory: 'O=Example' }, { subject: 'O=Example, CN=leaf' })],
  [
    'permitted directory subtree in other case and spacing',
    () => permitting({ directory: 'O=Example Inc' }, { subject: 'O=EXAMPLE  inc, CN=leaf' }),
  ],
  ['constraint of a kind that the leaf has no name of', () => permitting({ dns: 'example.com' }, {})],
  ['excluded DNS subtree that is not met', () => excluding({ dns: 'example.com' }, named('dns', 'notexample.com'))],
]
