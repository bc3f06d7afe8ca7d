import fc from 'fast-check'
import { expect, it } from 'vitest'
import { adminOf, type ForeignClient } from '../contract/http/foreign-client.ts'
import type { Mount } from '../contract/http/mount.ts'
import { MEANINGS, type Meaning } from './linked-meanings.ts'
import { makeLinkedScene, NAME_OF } from './linked-scene.ts'

const RUNS = Math.ceil(25 * Number(process.env.PORTCULLIS_PROPERTY_RUNS ?? 1))
const PATHS = ['/configs', '/services', '/service-policies', '/enrollments', '/terminators'] as const

/** Holds that every list finds by its links what the facts say, whatever storage they are in. */
export function linkedFilterLaws(name: string, mount: Mount): void {
  it(`filters over linked entities find what the facts say: ${name}`, { timeout: 30_000 + RUNS * 300 }, async () => {
    const mounted = await mount()
    try {
      const admin = await adminOf(mounted)
      const scene = await makeLinkedScene(admin)
      for (const path of PATHS) {
        // Facts and meanings of one path are of one type.
        const facts: readonly { readonly name: string }[] = scene[path]
        const meaning = MEANINGS[path] as fc.Arbitrary<Meaning<{ readonly name: string }>>
        await fc.assert(
          fc.asyncProperty(meaning, async ({ text, holds }) => {
            const expected = facts.filter(holds).map((fact) => fact.name)
            expect(await found(admin, path, text), `${path} ${text}`).toEqual(expected.sort())
          }),
          { numRuns: RUNS },
        )
      }
    } finally {
      await mounted.dispose()
    }
  })
}

async function found(admin: ForeignClient, path: (typeof PATHS)[number], text: string): Promise<unknown[]> {
  const answer = await admin.get(`${path}?limit=500&filter=${encodeURIComponent(text)}`)
  expect(answer.status, `${path} ${text} ${answer.text}`).toBe(200)
  expect(answer.body.meta.pagination.totalCount).toBe(answer.body.data.length)
  return answer.body.data.map(NAME_OF[path]).sort()
}
