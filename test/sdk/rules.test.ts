import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
// Internals: pure rules of an endpoint, tried at instants that the test chooses.
import { meaningOf, pauseAfter, type RouterOffer, renewAfter, routersToTry } from '../../src/data-plane.ts'

describe('what a refusal of a router means', () => {
  it.each([
    ['', undefined, 'STALE_SESSION'],
    ['invalid session', undefined, 'STALE_SESSION'],
    ['Invalid Session', 3, 'STALE_SESSION'],
    ['anything', 14, 'ACCESS_DENIED'],
    ['dial access lost', undefined, 'ACCESS_DENIED'],
    ['anything', 15, 'POSTURE_FAILED'],
    ['invalid service', 6, 'SERVICE_NOT_FOUND'],
    ['no policy whose posture checks pass lets the identity in', 6, 'POSTURE_FAILED'],
    ['service wiki has no terminators', 1, 'NO_HOST'],
    ['service wiki has no terminators for instance a on connected routers', 1, 'NO_HOST'],
    ['no path to a terminator of wiki', 1, 'NO_ROUTER'],
    ['the router is stopping', 1, 'NO_ROUTER'],
    ['the router has no controller', 1, 'CONTROLLER_UNREACHABLE'],
    ['the controller did not answer: no answer in time', 1, 'CONTROLLER_UNREACHABLE'],
    ['the storage of the controller is not available: busy', 1, 'CONTROLLER_UNREACHABLE'],
    ['no controller took the terminator', 1, 'CONTROLLER_UNREACHABLE'],
    ['no controller available, cannot create circuit', undefined, 'CONTROLLER_UNREACHABLE'],
    ['rejected by application: the controller failed', undefined, 'HOST_REFUSED'],
    ['too many circuits', 1, 'NO_ROUTER'],
    ['the host has too many connections', 1, 'HOST_REFUSED'],
    ['failed to establish connection: rejected by application', undefined, 'HOST_REFUSED'],
    ['dial tcp 127.0.0.1:1: connect: connection refused', undefined, 'HOST_REFUSED'],
    ['timeout waiting for message reply', undefined, 'TIMED_OUT'],
    ['encryption required on service, initiator did not send public header', 11, 'NO_PEER_KEY'],
    ['the words of a host are free', undefined, 'HOST_REFUSED'],
  ])('%j with the number %j: %s', (text, code, meaning) => {
    expect(meaningOf({ text, code, failingPostureChecks: [] })).toBe(meaning)
  })
})

describe('the routers to try', () => {
  it('are all that have an address, connected ones first, then those online, cheaper before dearer', () => {
    const offers = fc.array(
      fc.record({
        name: fc.string(),
        address: fc.option(fc.constantFrom('tls://a:1', 'tls://b:1', 'tls://c:1'), { nil: undefined }),
        isOnline: fc.boolean(),
        cost: fc.nat(5),
      }),
    )
    fc.assert(
      fc.property(offers, fc.constantFrom('tls://a:1', 'tls://b:1'), (given: RouterOffer[], connected) => {
        const tried = routersToTry(given, (address) => address === connected)
        expect(tried.toSorted(byIdentity)).toEqual(given.filter((offer) => offer.address).toSorted(byIdentity))
        for (const [index, next] of tried.slice(1).entries()) {
          const before = tried[index]
          const isBefore = before?.address === connected
          if (next.address === connected) expect(isBefore).toBe(true)
          else if (!isBefore && next.isOnline) expect(before?.isOnline).toBe(true)
          if (before?.address === next.address && before.isOnline === next.isOnline) {
            expect(before.cost).toBeLessThanOrEqual(next.cost)
          }
        }
      }),
    )
  })
})

const byIdentity = (one: RouterOffer, other: RouterOffer) =>
  JSON.stringify(one) < JSON.stringify(other) ? -1 : JSON.stringify(one) > JSON.stringify(other) ? 1 : 0

describe('pauses', () => {
  it('grow to half a minute and no further, and differ by chance', () => {
    const longest = Array.from({ length: 12 }, (_, index) => pauseAfter(index + 1, 0))
    expect(longest.slice(0, 4)).toEqual([500, 1000, 2000, 4000])
    expect(longest.at(-1)).toBe(30_000)
    expect(pauseAfter(1000, 1)).toBe(15_000)
  })

  it('before a renewal are between half and five sixths of what is left', () => {
    expect([renewAfter(60_000, 0), renewAfter(60_000, 1)]).toEqual([30_000, 50_000])
  })
})
