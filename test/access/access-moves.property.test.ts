import fc from 'fast-check'
import { AccessIndex, type AccessType } from 'portcullis/policy'
import { expect, it } from 'vitest'
// Internals: the index behind decisions, compared with an oracle step by step.
import { AccessMoves } from '../../src/access/access-moves.ts'
import { NaiveAccess } from '../support/naive-access.ts'
import { patience, runs } from '../support/property-runs.ts'

const IDENTITIES = ['alice', 'bob', 'carol']
const SERVICES = ['web', 'db', 'mail']
const POLICIES = ['first', 'second', 'third']
const TYPES: readonly AccessType[] = ['Dial', 'Bind']

interface Edit {
  readonly kind: 'identities' | 'services' | 'service-policies'
  readonly id: string
  readonly isRemoval?: true
  make(access: Pick<AccessIndex, 'putEntity' | 'removeEntity' | 'putPolicy' | 'removePolicy'>): void
}

const attributes = fc.subarray(['a', 'b'])
const roles = (ids: readonly string[]) => fc.subarray(['#a', '#b', '#all', ...ids.map((id) => `@${id}`)])

const edits: fc.Arbitrary<Edit> = fc.oneof(
  ...(
    [
      ['identities', IDENTITIES],
      ['services', SERVICES],
    ] as const
  ).flatMap(([kind, ids]) => [
    fc.tuple(fc.constantFrom(...ids), attributes).map(
      ([id, roleAttributes]): Edit => ({
        kind,
        id,
        make: (access) => access.putEntity(kind, { id, roleAttributes }),
      }),
    ),
    fc.constantFrom(...ids).map((id): Edit => ({ kind, id, make: (access) => access.removeEntity(kind, id) })),
  ]),
  fc
    .record({
      id: fc.constantFrom(...POLICIES),
      type: fc.constantFrom(...TYPES),
      semantic: fc.constantFrom('AnyOf' as const, 'AllOf' as const),
      identities: roles(IDENTITIES),
      services: roles(SERVICES),
    })
    .map(({ id, type, semantic, ...selected }): Edit => {
      const policy = { id, type, semantic, roles: selected }
      return { kind: 'service-policies', id, make: (access) => access.putPolicy('service-policies', policy) }
    }),
  fc.constantFrom(...POLICIES).map(
    (id): Edit => ({
      kind: 'service-policies',
      id,
      isRemoval: true,
      make: (access) => access.removePolicy('service-policies', id),
    }),
  ),
)

function reachOf(access: NaiveAccess, identityId: string): string {
  return JSON.stringify(TYPES.map((type) => access.servicesOf(identityId, type)))
}

it(
  'those who gained or lost access by an edit are those whom it concerns',
  () => {
    let [moved, unmoved] = [0, 0]
    fc.assert(
      fc.property(fc.array(edits, { minLength: 5, maxLength: 40, size: 'max' }), (sequence) => {
        const index = new AccessIndex()
        const naive = new NaiveAccess()
        const moves = new AccessMoves()
        for (const [revision, { kind, id, make, isRemoval }] of sequence.entries()) {
          // An attribute that is not there is removed by nobody.
          if (kind === 'service-policies' && !naive.has(kind, id) && isRemoval) continue
          const before = IDENTITIES.map((identity) => naive.has('identities', identity) && reachOf(naive, identity))
          moves.during(index, { kind, id }, () => make(index))
          make(naive)
          moves.settle(revision)
          for (const [at, identity] of IDENTITIES.entries()) {
            // Who was not there before did not look before either.
            if (before[at] === false || !naive.has('identities', identity)) continue
            const hasMoved = reachOf(naive, identity) !== before[at]
            expect(moves.concern(index, revision - 1, identity)).toBe(hasMoved)
            if (hasMoved) moved += 1
            else unmoved += 1
          }
        }
      }),
      runs(300),
    )
    expect(Math.min(moved, unmoved)).toBeGreaterThan(50)
  },
  patience(60_000),
)
