import fc from 'fast-check'
import { expect, it } from 'vitest'
// Internals: a pure rule, tried with every input; a controller would let few of them through.
import { type OfferedSigner, offeredSigners } from '../../src/facts/credentials/signers/offered-signers.rules.ts'

/** Signers of an administrator and of up to eight delegates; some of these made many. */
const network = fc
  .record({
    trusted: fc.integer({ min: 0, max: 25 }),
    delegates: fc.array(fc.integer({ min: 0, max: 25 }), { maxLength: 8 }),
  })
  .map(({ trusted, delegates }) => [
    ...signers('administrator', trusted, true),
    ...delegates.flatMap((count, at) => signers(`delegate-${at}`, count, false)),
  ])

function signers(by: string, count: number, mayAuthenticateAdmins: boolean): readonly OfferedSigner[] {
  return Array.from({ length: count }, (_, at) => ({
    id: `${by}-${at}`,
    name: `${String(99 - at)}-${by}`,
    createdAt: at,
    mayAuthenticateAdmins,
    decidedById: mayAuthenticateAdmins ? null : by,
  }))
}

const countOf = (all: readonly OfferedSigner[], by: string | null) =>
  all.filter(({ decidedById }) => decidedById === by).length

it('of the signers that strangers are offered, administrators come first and no delegate has more than three', () => {
  fc.assert(
    fc.property(network, (all) => {
      const offered = offeredSigners(all)
      const ofAdministrators = countOf(all, null)
      expect(offered.length).toBeLessThanOrEqual(20)
      expect(countOf(offered, null)).toBe(Math.min(ofAdministrators, 20))
      const room = 20 - Math.min(ofAdministrators, 20)
      const delegates = [...new Set(all.map(({ decidedById }) => decidedById))].filter((by) => by !== null)
      const wanted = delegates.map((by) => Math.min(countOf(all, by), 3))
      const shown = delegates.map((by) => countOf(offered, by))
      // Places go round one at a time, until nobody wants more or none is left.
      let left = room
      const places = delegates.map(() => 0)
      for (let round = 1; round <= 3; round += 1) {
        for (const [at, most] of wanted.entries()) {
          if (most < round || left === 0) continue
          places[at] = round
          left -= 1
        }
      }
      expect(shown.toSorted()).toEqual(places.toSorted())
      // The oldest ones of each are shown: making another one changes nothing for those who know the page.
      for (const by of delegates) {
        const own = offered.filter(({ decidedById }) => decidedById === by).map(({ createdAt }) => createdAt)
        expect(own.toSorted()).toEqual(own.map((_, at) => at))
      }
    }),
  )
})
