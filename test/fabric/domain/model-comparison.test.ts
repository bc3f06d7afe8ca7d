import { expect, it } from 'vitest'
// Internals: pure rules of circuits and paths, compared with an oracle by the thousand.
import {
  differencesOf,
  judgesPosture,
  type ModelDifference,
  partsNotCompared,
  survivesOverrides,
} from '../../../src/facts/fabric/rules/index.ts'

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
  const reported = [overrides, name, known, unknown]
  const parts = ['config-overrides', 'revocations'] as const
  expect(differencesOf(reported, parts, new Set(['r1', 'r2']))).toEqual([
    name,
    unknown,
    difference('revocations', 'r2', 'removed', 'entity missing'),
  ])
  expect(differencesOf(reported, [], new Set(['r1', 'r2']))).toEqual(reported)
})
