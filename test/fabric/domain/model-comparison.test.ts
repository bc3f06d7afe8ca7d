import { expect, it } from 'vitest'
// Internals: pure rules of circuits and paths, compared with an oracle by the thousand.
import {
  compareCircuits,
  compareCounts,
  compareHosted,
  compareIdentities,
  compareLinks,
  differencesOf,
  type ModelDifference,
  newLink,
  partsNotCompared,
  survivesOverrides,
} from '../../../src/facts/fabric/rules/index.ts'
import { judgesPosture } from '../../../src/facts/routers/capabilities.rules.ts'

it.each([
  ['1.6', [], { judges: false, survives: false, parts: ['config-overrides', 'revocations'] }],
  ['2.0', [1], { judges: true, survives: true, parts: ['config-overrides', 'revocations'] }],
  ['2.1', [1, 2, 4, 5, 6, 62], { judges: true, survives: true, parts: [] }],
  ['of this package, in a process of its own', [1, 48], { judges: false, survives: true, parts: [] }],
  ['of this package, in the process of a controller', [48], { judges: false, survives: true, parts: [] }],
] as const)('a router of the line %s, with the capabilities %j, does %j', (_line, capabilities, expected) => {
  expect({
    judges: judgesPosture(capabilities),
    survives: survivesOverrides(capabilities),
    parts: partsNotCompared(capabilities),
  }).toEqual(expected)
})

const difference = (
  entityType: string,
  entityId: string,
  kind: ModelDifference['kind'],
  detail = 'entity unexpected',
) => ({ entityType, entityId, kind, detail })

it('what a router says because it was not given something is no difference, and everything else is', () => {
  const overrides = difference('identity', 'ada', 'modified', '{*common.Identity}.ServiceConfigs["s"] mismatch')
  const name = difference('identity', 'ada', 'modified', '{*common.Identity}.Name mismatch')
  const known = difference('revocations', 'r1', 'added')
  const unknown = difference('revocations', 'r9', 'added')
  const added = difference('identity', 'bob', 'added', 'with {*common.Identity}.ServiceConfigs["s"]')
  // Its id is that of a revocation.
  const sameId = difference('identity', 'r2', 'modified')
  const reported = [overrides, name, known, unknown, added, sameId]
  const parts = ['config-overrides', 'revocations'] as const
  expect(differencesOf(reported, parts, new Set(['r1', 'r2']))).toEqual([
    name,
    unknown,
    added,
    sameId,
    difference('revocations', 'r2', 'removed', 'entity missing'),
  ])
  expect(differencesOf(reported, [], new Set(['r1', 'r2']))).toEqual(reported)
})

it('a circuit is missing wherever its router or its controller does not have it', () => {
  const atSdk = new Map([['address', 'xg-edge-fwd']])
  const atLinks = new Map([['address', 'link']])
  const forwarded = new Map([
    ['whole', atSdk],
    ['passing', atLinks],
    ['unknown', atLinks],
    ['no end', atSdk],
  ])
  const compared = compareCircuits(
    ['whole', 'passing', 'no end', 'not here'],
    forwarded,
    ['whole', 'stray'],
    ['whole', 'lost'],
  )
  const missing = [...compared.values()].map(
    ({ circuitId, missingInCtrl, missingInForwarder, missingInEdge, missingInSdk }) => {
      const places = { ctrl: missingInCtrl, forwarder: missingInForwarder, edge: missingInEdge, sdk: missingInSdk }
      return [circuitId, Object.entries(places).flatMap(([place, isMissing]) => (isMissing ? [place] : []))]
    },
  )
  expect(Object.fromEntries(missing)).toEqual({
    whole: [],
    passing: [],
    unknown: ['ctrl'],
    'no end': ['edge', 'sdk'],
    'not here': ['forwarder'],
    stray: ['ctrl', 'forwarder'],
    lost: ['ctrl', 'forwarder', 'edge'],
  })
  expect(compared.get('whole')?.destinations).toBe(atSdk)
  expect(compared.get('stray')?.destinations.size).toBe(0)
})

it('a link is valid where router and controller have it and its other end is connected, or neither is so', () => {
  const report = { protocol: 'tls', dialAddress: '', iteration: 1, stateIteration: 0, connections: [] }
  const known = [
    newLink('here', { ...report, id: 'dialed', target: 'there' }),
    newLink('there', { ...report, id: 'accepted', target: 'here' }),
    newLink('here', { ...report, id: 'gone', target: 'away' }),
    newLink('away', { ...report, id: 'gone too', target: 'here' }),
    newLink('there', { ...report, id: 'of others', target: 'away' }),
  ]
  const told = [
    { id: 'dialed', dest: 'there', dialed: true },
    { id: 'accepted', dest: 'there', dialed: false },
    { id: 'new', dest: 'there', dialed: true },
    { id: 'to nobody', dest: 'away', dialed: true },
  ]
  const [both, unknown] = [
    { ctrlState: 'established', routerState: 'established', messages: [] },
    { ctrlState: 'unknown', routerState: 'established', messages: [] },
  ]
  const lacking = {
    ctrlState: 'established',
    routerState: 'unknown',
    isValid: false,
    destConnected: false,
    messages: [],
  }
  expect(compareLinks('here', known, told, (id) => id !== 'away')).toEqual([
    { linkId: 'dialed', destRouterId: 'there', dialed: true, destConnected: true, isValid: true, ...both },
    { linkId: 'accepted', destRouterId: 'there', dialed: false, destConnected: true, isValid: true, ...both },
    { linkId: 'new', destRouterId: 'there', dialed: true, destConnected: true, isValid: false, ...unknown },
    { linkId: 'to nobody', destRouterId: 'away', dialed: true, destConnected: false, isValid: true, ...unknown },
    { linkId: 'gone', destRouterId: 'away', dialed: true, ...lacking },
    { linkId: 'gone too', destRouterId: 'away', dialed: false, ...lacking },
  ])
})

it('a terminator is valid where it is stored and its router has it established', () => {
  const facts = { operationActive: true, createTime: 'then', lastAttempt: 'now' }
  const none = { operationActive: false, createTime: '', lastAttempt: '' }
  const told = [
    { id: 'good', state: 'established', ...facts },
    { id: 'establishing', state: 'establishing', ...facts },
    { id: 'stray', state: 'established', ...facts },
  ]
  expect(compareHosted(['good', 'establishing', 'lost'], told)).toEqual([
    { terminatorId: 'good', ctrlState: 'valid', routerState: 'established', isValid: true, ...facts },
    { terminatorId: 'establishing', ctrlState: 'valid', routerState: 'establishing', isValid: false, ...facts },
    { terminatorId: 'stray', ctrlState: 'unknown', routerState: 'established', isValid: false, ...facts },
    { terminatorId: 'lost', ctrlState: 'valid', routerState: 'unknown', isValid: false, ...none },
  ])
})

it('a host has as many terminators as are expected of it, for each service that it hosts and in total', () => {
  const stored = [
    { hostId: 'one', serviceId: 'web' },
    { hostId: 'one', serviceId: 'web' },
    { hostId: 'one', serviceId: 'ssh' },
    { hostId: 'two', serviceId: 'web' },
  ]
  const counted = (perHost: number, perHostAndService: number) =>
    compareCounts(stored, { hosts: '', perHost, perHostAndService }, ['one', 'two', 'idle'])
  expect(counted(0, 0)).toEqual([])
  expect(counted(0, 1)).toEqual([{ identityId: 'one', serviceId: 'web', message: 'expected 1 terminators, but had 2' }])
  expect(counted(3, 0)).toEqual([
    { identityId: 'two', serviceId: '', message: 'expected 3 terminators, but had 1' },
    { identityId: 'idle', serviceId: '', message: 'expected 3 terminators, but had 0' },
  ])
})

it('an identity is connected where both say so, and nothing of it is unreported', () => {
  const told = [
    { id: 'both', isConnected: true, isBehind: false },
    { id: 'router', isConnected: true, isBehind: true },
    { id: 'left', isConnected: false, isBehind: false },
    { id: 'neither', isConnected: false, isBehind: false },
  ]
  expect(compareIdentities(['both', 'left', 'controller'], told)).toEqual([
    'router reports identity router connected, but controller disagrees',
    'identity router has unreported events',
    'router reports identity left is not connected, but controller disagrees',
    'ctrl reports identity controller is connected, but router disagrees',
  ])
})
