import { describe, expect, it } from 'vitest'
// Internals: a pure rule, tried with every input; a controller would let few of them through.
import {
  authenticatorIdOfSigner,
  type BasisFacts,
  basisEnds,
  byHost,
  dueAtOf,
  endOf,
  type LetIn,
  lostBasis,
  phaseOf,
} from '../../src/facts/credentials/login-basis.rules.ts'

const NOW = 1_000_000
const person = { id: 'ann', externalId: 'ann@example', isAdmin: false, isDefaultAdmin: false, permissions: [] }
const admin = { ...person, isAdmin: true }
const delegate = { ...person, permissions: ['service.read'] }
const primary = {
  updb: { allowed: true },
  cert: { allowed: true, allowExpiredCerts: false },
  extJwt: { allowed: true, allowedSigners: [] as readonly string[] },
}
const own = { identityId: 'ann', fingerprint: 'f1', caId: null }
const trusted = { isInForce: true, mayAuthenticateAdmins: true, trust: 't1' }

const password: LetIn = {
  method: 'password',
  authenticatorId: 'a',
  trustAnchorId: null,
  basis: { certificate: null, voucher: null },
}
const certificate: LetIn = {
  ...password,
  method: 'cert',
  basis: { certificate: { fingerprint: 'f1', notAfter: NOW }, voucher: null },
}
const ofAuthority: LetIn = {
  ...certificate,
  trustAnchorId: 'ca',
  basis: {
    certificate: { fingerprint: 'f1', notAfter: NOW },
    voucher: { trust: 't1', externalId: null },
  },
}
const byClaim: LetIn = {
  ...ofAuthority,
  authenticatorId: 'internal',
  basis: {
    certificate: { fingerprint: 'f1', notAfter: NOW },
    voucher: { trust: 't1', externalId: 'ann@example' },
  },
}
const token: LetIn = {
  method: 'ext-jwt',
  authenticatorId: 'extJwtId:s',
  trustAnchorId: 's',
  basis: {
    certificate: null,
    voucher: { trust: 't1', externalId: 'ann@example', notAfter: NOW + 1 },
  },
}
const proof = { signerId: 's', trust: 't1', externalId: null }
/** A login of which nothing was kept but how and by which authenticator. */
const earlier = (login: LetIn): LetIn => ({ ...login, trustAnchorId: null, basis: null })

const facts = (login: LetIn, change: Partial<BasisFacts> = {}): BasisFacts => ({
  identity: person,
  primary,
  authenticator: login.authenticatorId === 'a' ? { ...own, caId: login.trustAnchorId } : undefined,
  isIssuerOver: false,
  voucher: login.trustAnchorId === null ? undefined : trusted,
  ...change,
})
const policy = (change: Partial<BasisFacts['primary']>) => ({ primary: { ...primary, ...change } })

describe('the basis of a login', () => {
  it.each([
    ['a password', password],
    ['a certificate of the network', certificate],
    ['a certificate of a third party', ofAuthority],
    ['an external id in a certificate', byClaim],
    ['a token of a signer', token],
    ['the host of the controller', byHost()],
  ])('%s lets in as long as nothing changes', (_, login) => {
    expect(lostBasis(login, facts(login), NOW)).toBeUndefined()
  })

  const everyWay: readonly (readonly [string, LetIn, Partial<BasisFacts>, number, string])[] = [
    ['passwords are forbidden', password, policy({ updb: { allowed: false } }), NOW, 'forbids passwords'],
    ['the password is gone', password, { authenticator: undefined }, NOW, 'password is gone'],
    [
      'the password is another identity’s',
      password,
      { authenticator: { ...own, identityId: 'ben' } },
      NOW,
      'password is gone',
    ],
    [
      'certificates are forbidden',
      certificate,
      policy({ cert: { allowed: false, allowExpiredCerts: true } }),
      NOW,
      'forbids certificates',
    ],
    ['the certificate runs out', certificate, {}, NOW + 1, 'not valid now'],
    ['the certificate is gone', certificate, { authenticator: undefined }, NOW, 'certificate is gone'],
    ['the certificate of an authority is gone', ofAuthority, { authenticator: undefined }, NOW, 'certificate is gone'],
    ['the certificate is replaced', certificate, { authenticator: { ...own, fingerprint: 'f2' } }, NOW, 'was replaced'],
    ['the authority of the network has ended', certificate, { isIssuerOver: true }, NOW, 'authority of the client'],
    [
      'the authority is disabled',
      ofAuthority,
      { voucher: { ...trusted, isInForce: false } },
      NOW,
      'nobody in any more',
    ],
    ['the authority is gone', ofAuthority, { voucher: undefined }, NOW, 'nobody in any more'],
    ['a third party’s certificate runs out', byClaim, {}, NOW + 1, 'not valid now'],
    [
      'the external id is another one',
      byClaim,
      { identity: { ...person, externalId: 'ben@example' } },
      NOW,
      'names the identity no more',
    ],
    [
      'the external id is taken away',
      token,
      { identity: { ...person, externalId: null } },
      NOW,
      'names the identity no more',
    ],
    ['tokens are forbidden', token, policy({ extJwt: { allowed: false, allowedSigners: [] } }), NOW, 'forbids tokens'],
    [
      'the signer is allowed no more',
      token,
      policy({ extJwt: { allowed: true, allowedSigners: ['other'] } }),
      NOW,
      'forbids the signer',
    ],
    ['the signer is disabled', token, { voucher: { ...trusted, isInForce: false } }, NOW, 'nobody in any more'],
    ['the signer has another key', token, { voucher: { ...trusted, trust: 't2' } }, NOW, 'decides otherwise'],
  ]
  it.each(everyWay)('is lost when %s', (_, login, change, now, reason) => {
    expect(lostBasis(login, facts(login, change), now)).toContain(reason)
  })

  it.each([
    ['a certificate of a third party', ofAuthority],
    ['an external id in a certificate', byClaim],
    ['a token of a signer', token],
  ])('by %s is lost for whoever has rights once the third party is not trusted with them', (_, login) => {
    const voucher = { ...trusted, mayAuthenticateAdmins: false }
    expect(lostBasis(login, facts(login, { voucher }), NOW)).toBeUndefined()
    for (const identity of [admin, delegate]) {
      expect(lostBasis(login, facts(login, { identity, voucher }), NOW)).toContain('identities with rights')
      expect(lostBasis(login, facts(login, { identity }), NOW)).toBeUndefined()
    }
  })

  it('takes expired certificates where the auth policy does', () => {
    const change = policy({ cert: { allowed: true, allowExpiredCerts: true } })
    expect(lostBasis(certificate, facts(certificate, change), NOW + 1)).toBeUndefined()
  })

  it('that was not kept is judged by what the authenticator tells', () => {
    const authenticator = { ...own, caId: 'ca' }
    const untrusted = { ...trusted, mayAuthenticateAdmins: false }
    const withAuthority = { authenticator, voucher: untrusted, identity: admin }
    expect(lostBasis(earlier(password), facts(password), NOW)).toBeUndefined()
    expect(lostBasis(earlier(certificate), facts(certificate), NOW)).toBeUndefined()
    expect(lostBasis(earlier(ofAuthority), facts(ofAuthority, withAuthority), NOW)).toContain('identities with rights')
    // Nothing tells which authority named it.
    expect(lostBasis(earlier(byClaim), facts(byClaim), NOW)).toContain('certificate is gone')
    expect(lostBasis(earlier(token), facts(token, { voucher: undefined }), NOW)).toContain('nobody in any more')
    const others = policy({ extJwt: { allowed: true, allowedSigners: ['other'] } })
    expect(lostBasis(earlier(token), facts(token, others), NOW)).toContain('forbids the signer')
  })

  it('holds for signers that the auth policy allows by name, and for the host whatever the policy says', () => {
    const allowed = policy({ extJwt: { allowed: true, allowedSigners: ['other', 's'] } })
    expect(lostBasis(token, facts(token, allowed), NOW)).toBeUndefined()
    expect(lostBasis(earlier(token), facts(token, allowed), NOW)).toBeUndefined()
    const forbidden = policy({ extJwt: { allowed: false, allowedSigners: ['other'] } })
    expect(lostBasis(byHost(), facts(byHost(), forbidden), NOW)).toBeUndefined()
  })

  it('needs no certificate that was not kept', () => {
    const unkept: LetIn = { ...certificate, basis: { certificate: null, voucher: null } }
    expect(lostBasis(unkept, facts(unkept), NOW)).toBeUndefined()
  })

  it('names the signer in place of an authenticator, and nothing for the host', () => {
    expect(authenticatorIdOfSigner('s')).toBe(token.authenticatorId)
    expect(byHost()).toEqual({ method: 'ext-jwt', authenticatorId: 'internal', trustAnchorId: null, basis: null })
  })

  it('tells when something of it runs out', () => {
    expect([password, certificate, token].map(basisEnds)).toEqual([[], [NOW], [NOW + 1]])
  })
})

describe('the end of an API session', () => {
  const settings = { apiSessionTimeoutMs: 1000 }
  const used = { tokensExpireAt: null, lastActivityAt: NOW, createdAt: NOW, basis: null }
  const ofTokens = { ...used, tokensExpireAt: NOW + 5 }
  const certified = (notAfter: number) => ({
    ...used,
    basis: { certificate: { fingerprint: 'f1', notAfter }, voucher: null },
  })

  it('comes after a time without use, or with the last token', () => {
    expect([endOf(used, settings), endOf(ofTokens, settings)]).toEqual([NOW + 1000, NOW + 5])
  })

  it.each([
    ['its end', used, NOW + 1000],
    ['its last token', ofTokens, NOW + 5],
    ['the millisecond after its certificate, which is before', certified(NOW + 10), NOW + 11],
    ['its end, where the certificate is good for longer', certified(NOW + 1000), NOW + 1000],
    ['a certificate that runs out now', certified(NOW), NOW + 1],
    ['its end, where an expired certificate was accepted', certified(NOW - 1), NOW + 1000],
    [
      'the key that a second factor was proved with',
      { ...used, signerProof: { ...proof, notAfter: NOW + 3 } },
      NOW + 4,
    ],
  ])('is looked for at %s', (_, session, at) => {
    expect(dueAtOf(session, settings, NOW)).toBe(at)
  })

  it.each([
    ['underway', used, NOW],
    ['underway', used, NOW + 999],
    ['over', used, NOW + 1000],
    ['over', ofTokens, NOW + 5],
    // Clocks of machines may differ by a minute.
    ['underway', used, NOW - 60_000],
    ['future', used, NOW - 60_001],
    ['future', { ...used, createdAt: NOW - 500_000 }, NOW - 60_001],
    ['future', { ...used, lastActivityAt: NOW - 500_000 }, NOW - 60_001],
  ] as const)('is %s', (phase, session, now) => {
    expect(phaseOf(session, now, settings)).toBe(phase)
  })
})
