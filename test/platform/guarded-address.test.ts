import { createTestController } from 'portcullis/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
// Internals: the implementation of a port, which controllers reach with few of these inputs.
import { addressesAmong, isAllowedAddress } from '../../src/platform/outgoing/guarded-address.ts'

/** The rows of IANA's registries of special-purpose addresses (RFC 6890): a prefix, and whether it is globally reachable. */
const ROWS: readonly (readonly [string, boolean])[] = [
  ['0.0.0.0/8', false],
  ['10.0.0.0/8', false],
  ['100.64.0.0/10', false],
  ['127.0.0.0/8', false],
  ['169.254.0.0/16', false],
  ['172.16.0.0/12', false],
  ['192.0.0.0/29', false],
  ['192.0.0.8/32', false],
  ['192.0.0.9/32', true],
  ['192.0.0.10/32', true],
  ['192.0.0.170/32', false],
  ['192.0.0.171/32', false],
  ['192.0.2.0/24', false],
  ['192.31.196.0/24', true],
  ['192.52.193.0/24', true],
  ['192.88.99.0/24', false],
  ['192.168.0.0/16', false],
  ['192.175.48.0/24', true],
  ['198.18.0.0/15', false],
  ['198.51.100.0/24', false],
  ['203.0.113.0/24', false],
  ['240.0.0.0/4', false],
  ['255.255.255.255/32', false],
  ['::1/128', false],
  ['::/128', false],
  ['64:ff9b:1::/48', false],
  ['100::/64', false],
  ['100:0:0:1::/64', false],
  ['2001::/32', false],
  ['2001:1::1/128', true],
  ['2001:1::2/128', true],
  ['2001:1::3/128', true],
  ['2001:2::/48', false],
  ['2001:3::/32', true],
  ['2001:4:112::/48', true],
  ['2001:10::/28', false],
  ['2001:20::/28', true],
  ['2001:30::/28', true],
  ['2001:db8::/32', false],
  ['2002::/16', false],
  ['2620:4f:8000::/48', true],
  ['3fff::/20', false],
  ['5f00::/16', false],
  ['fc00::/7', false],
  ['fe80::/10', false],
  // Of other registries: groups, and the former site-local addresses.
  ['224.0.0.0/4', false],
  ['fec0::/10', false],
  ['ff00::/8', false],
]

/** Forms of IPv6 that carry an IPv4 address, and whether the form itself is reachable everywhere. */
const FORMS: readonly (readonly [string, (address: string) => string, boolean])[] = [
  ['mapped', (address) => `::ffff:${address}`, true],
  ['NAT64', (address) => `64:ff9b::${address}`, true],
  ['NAT64 of a network, 48 bits', (address) => `64:ff9b:1:${hex(address, 0)}:${split(address)}::`, false],
  ['NAT64 of a network, 96 bits', (address) => `64:ff9b:1:ffff:0:0:${hex(address, 0)}:${hex(address, 2)}`, false],
  ['6to4', (address) => `2002:${hex(address, 0)}:${hex(address, 2)}::1`, false],
  ['Teredo, as client', (address) => `2001:0:0808:0808:0:0:${hex(address, 0, 255)}:${hex(address, 2, 255)}`, false],
  ['Teredo, as server', (address) => `2001:0:${hex(address, 0)}:${hex(address, 2)}:0:0:f7f7:f7f7`, false],
  ['translated', (address) => `::ffff:0:${address}`, false],
  ['compatible', (address) => `::${address}`, false],
]

function hex(address: string, from: number, mask = 0): string {
  const [high = 0, low = 0] = address.split('.').map(Number).slice(from)
  return (((high ^ mask) << 8) | (low ^ mask)).toString(16)
}

/** The last two bytes as they stand around the byte that RFC 6052 leaves free. */
function split(address: string): string {
  const [, , third = 0, fourth = 0] = address.split('.').map(Number)
  return `${third.toString(16)}:${(fourth << 8).toString(16)}`
}

const METADATA = ['169.254.169.254', '168.63.129.16', '100.100.100.200', '192.0.0.192']

describe('addresses that are fetched from', () => {
  it.each(ROWS)('%s: globally reachable is %s', (prefix, isReachable) => {
    const [network = ''] = prefix.split('/')
    expect(isAllowedAddress(network, false)).toBe(isReachable)
  })

  it.each(FORMS)('carry an IPv4 address as %s, and are judged as what it is', (_form, of, isReachable) => {
    expect(isAllowedAddress(of('8.8.8.8'), false)).toBe(isReachable)
    expect(isAllowedAddress(of('8.8.8.8'), true)).toBe(true)
    for (const inner of ['10.1.2.3', '127.0.0.1', '192.168.0.1']) {
      expect(isAllowedAddress(of(inner), false)).toBe(false)
      expect(isAllowedAddress(of(inner), true)).toBe(true)
    }
    for (const address of METADATA) {
      expect(isAllowedAddress(address, true)).toBe(false)
      expect(isAllowedAddress(of(address), true)).toBe(false)
      expect(addressesAmong(['0.0.0.0/0', '::/0'])(of(address))).toBe(false)
    }
  })

  it('are everything else, with and without a zone', () => {
    expect(isAllowedAddress('2606:4700::1111', false)).toBe(true)
    expect(isAllowedAddress('192.0.1.1', false)).toBe(true)
    expect(isAllowedAddress('fe80::1%eth0', true)).toBe(false)
    expect(isAllowedAddress('fd00::1', true)).toBe(true)
    expect(isAllowedAddress('localhost', true)).toBe(false)
  })

  it('lead nowhere by NAT64 where a host allows private key sets, and webhooks everywhere', async () => {
    const controller = await createTestController({
      allowPrivateJwks: true,
      webhooks: { allow: ['::/0', '0.0.0.0/0'] },
    })
    onTestFinished(() => controller.close())
    const signer = { name: 'idp', issuer: 'i', audience: 'a', enabled: true }
    const inward = ['[64:ff9b::a9fe:a9fe]', '[64:ff9b:1::a9fe:a9fe]', '[2002:a9fe:a9fe::1]', '168.63.129.16']
    for (const host of inward) {
      const jwksEndpoint = `http://${host}/jwks`
      await expect(
        controller.admin.call('POST /external-jwt-signers', { body: { ...signer, jwksEndpoint } }),
      ).rejects.toMatchObject({ code: 'INVALID_FIELD', details: { field: 'jwksEndpoint' } })
    }
    const jwksEndpoint = 'http://[64:ff9b::a01:203]/jwks'
    await controller.admin.call('POST /external-jwt-signers', { body: { ...signer, jwksEndpoint } })
  })
})
