import { describe, expect, it } from 'vitest'
import {
  DEAD_LATENCY_NS,
  duplicateOutcome,
  groupsMeet,
  linkKey,
  linkLiveness,
  peerFirstMs,
  ROUTER_VERSION,
  redialDelayMs,
} from '../../src/data-plane.ts'

describe('links of two routers', () => {
  it.each([
    ['', '', 'default->tls:peer->default'],
    ['default', 'default', 'default->tls:peer->default'],
    ['a', '', 'a->tls:peer->default'],
    ['', 'b', 'default->tls:peer->b'],
  ])('have one place by the bindings %j and %j', (ownBinding, peerBinding, key) => {
    expect(linkKey({ ownBinding, protocol: 'tls', peerId: 'peer', peerBinding })).toBe(key)
  })

  it.each([
    ['a', true, 'a', true, 0, 'held-goes'],
    ['a', true, 'b', true, 0, 'new-goes'],
    ['a', true, 'b', true, 4, 'new-goes'],
    ['a', true, 'b', true, 5, 'both-stay'],
    ['a', false, 'b', true, 0, 'new-goes'],
    ['a', true, 'b', false, 0, 'both-stay'],
    ['b', true, 'a', true, 0, 'held-goes'],
    ['b', true, 'a', false, 5, 'held-goes'],
    ['b', false, 'a', true, 0, 'both-stay'],
  ] as const)(
    'held %s (dialed: %s), new %s (dialed: %s), rejected %i times: %s',
    (held, isHeld, added, isAdded, times, outcome) => {
      expect(duplicateOutcome({ id: held, isDialed: isHeld }, { id: added, isDialed: isAdded }, times)).toBe(outcome)
    },
  )

  it.each([
    ['a router that listens nowhere dials at once', 'b', false, 'a', ROUTER_VERSION, 0],
    ['the lower id dials at once', 'a', true, 'b', ROUTER_VERSION, 0],
    ['the higher id waits a second', 'b', true, 'a', ROUTER_VERSION, 1000],
    ['one id waits', 'a', true, 'a', ROUTER_VERSION, 1000],
    ['the lower id waits for a peer of another version', 'a', true, 'b', 'v1.6.0', 1000],
  ])('%s', (_, routerId, isListening, id, version, ms) => {
    expect(peerFirstMs({ routerId, isListening }, { id, version })).toBe(ms)
    expect(ROUTER_VERSION).toBe('v2.0.0')
  })
})

describe('a lost peer is dialed again', () => {
  it.each([
    ['at once after a link that was there', 0, true, 0.5, 0],
    ['after five seconds', 1, true, 0.5, 5000],
    ['half of them at least', 1, true, 0, 2500],
    ['half as many more at most', 1, true, 1, 7500],
    ['half as late again each time', 3, true, 0.5, 11_250],
    ['after five minutes at most', 100, true, 0, 150_000],
    ['after five minutes at most, with chance', 100, true, 1, 300_000],
    ['after a minute where it lost its controller', 1, false, 0.5, 60_000],
    ['ten times as late then', 2, false, 0.5, 600_000],
    ['after an hour at most then', 3, false, 0.5, 3_600_000],
    ['after an hour at most then, by half', 1000, false, 0, 1_800_000],
  ])('%s', (_, failures, isHealthy, fraction, ms) => {
    expect(redialDelayMs(failures, isHealthy, fraction)).toBe(ms)
  })
})

it.each([
  [0, 'alive'],
  [29_999, 'alive'],
  [30_000, 'slow'],
  [59_999, 'slow'],
  [60_000, 'dead'],
] as const)('a link that answered %i ms ago is %s', (ms, liveness) => {
  expect(linkLiveness(1000, 1000 + ms)).toBe(liveness)
  expect(DEAD_LATENCY_NS).toBe(8_888_888_888_888)
})

it.each([
  [['default'], [], true],
  [['a'], [], false],
  [[], [], false],
  [['a', 'b'], ['c', 'b'], true],
  [['a'], ['b'], false],
  [['default'], ['a'], false],
] as const)('a router of the groups %j dials a listener of %j: %s', (own, theirs, meet) => {
  expect(groupsMeet(own, theirs)).toBe(meet)
})
