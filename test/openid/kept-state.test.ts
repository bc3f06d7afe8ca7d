import { describe, expect, it } from 'vitest'
// Internals: state of the OpenID provider that no API shows, which must be bounded and not outlive its time.
import { DEFAULT_LIMITS } from '../../src/base/limits.ts'
import { PendingRequests } from '../../src/oidc/auth-requests.ts'
import { KnownProviders } from '../../src/oidc/signer-logins.ts'

describe('logins that were begun and not ended', () => {
  it('are ten thousand in all at most; whoever began most of them loses first', () => {
    const pending = new PendingRequests(DEFAULT_LIMITS)
    expect(pending.add('somebody', '192.0.2.7', 1000)).toEqual([])
    const gone: string[] = []
    for (let network = 0; network < 20; network += 1) {
      for (let count = 0; count < 600; count += 1) {
        gone.push(...pending.add(`${network}-${count}`, `198.51.100.${network}`, 1000))
      }
    }
    expect(gone).toHaveLength(20 * 600 + 1 - 10_000)
    expect(gone).not.toContain('somebody')
    // An IPv6 network counts as one, however many addresses it has.
    const addresses = Array.from({ length: 1001 }, (_, index) => `2001:db8:1:2::${index.toString(16)}`)
    const evicted = addresses.flatMap((address) => pending.add(`v6-${address}`, address, 1000))
    expect(evicted.length).toBeGreaterThan(0)
    expect(evicted).not.toContain('somebody')
  })

  it('hold so many bytes of one network and in all; whoever began most of them loses first', () => {
    const pending = new PendingRequests({ loginBytesPerNetwork: 10_000, loginBytes: 25_000 })
    expect(pending.add('small', '192.0.2.7', 500)).toEqual([])
    expect(['a1', 'a2', 'a3'].flatMap((id) => pending.add(id, '198.51.100.1', 4000))).toEqual(['a1'])
    expect(['b1', 'b2'].flatMap((id) => pending.add(id, '198.51.100.2', 5000))).toEqual([])
    expect(pending.add('c1', '198.51.100.3', 9000)).toEqual(['b1'])
    pending.delete('c1')
    expect(pending.add('c2', '198.51.100.3', 9000)).toEqual([])
    // One that is larger than all may be takes nobody else's place.
    expect(pending.add('d1', '198.51.100.4', 10_001)).toEqual(['d1'])
    expect(pending.add('e1', '198.51.100.5', 2000)).toEqual([])
  })
})

describe('what an external provider says of itself', () => {
  it('is asked for anew when the clock goes back by a year', async () => {
    let now = Date.UTC(2026, 0, 1)
    let asked = 0
    const keySets = {
      refusal: () => undefined,
      fetch: async () => {
        asked += 1
        throw new Error('nobody there')
      },
    }
    const providers = new KnownProviders({ clock: { now: () => now }, keySets })
    const ask = async () => {
      await providers.at('https://idp.example')
      return asked
    }
    expect([await ask(), await ask()]).toEqual([1, 1])
    now -= 365 * 1440 * 60_000
    expect(await ask()).toBe(2)
  })
})
