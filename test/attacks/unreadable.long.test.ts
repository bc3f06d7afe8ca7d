import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { adminOf, CLIENT, type ForeignClient, foreignClient, MANAGEMENT } from '../contract/http/foreign-client.ts'
import type { MountedController } from '../contract/http/mount.ts'
import { COMMON, conditionsOn, type Kind, SYMBOLS } from '../laws/documented-symbols.ts'
import { ALL_ROWS } from '../support/api-rows.ts'
import { PERMISSIONS } from '../support/permissions.ts'
import { IS_SLOW_SUITE } from '../support/suite.ts'
import { type Twins, twinNetworks } from './twin-networks.ts'

/** `npm run test:attacks` tries every permission and every tenth pair: ten minutes. Otherwise it is those to read, and few pairs. */
const IS_WHOLE = process.env.PORTCULLIS_ATTACK_REQUESTS !== undefined

const READS = PERMISSIONS.filter((permission) => permission.endsWith('.read'))
const PAIRS = READS.flatMap((one, place) => READS.slice(place + 1).map((other) => [one, other]))
const SETS: readonly (readonly string[])[] = [
  [],
  // A kind as a whole is read like by its permission to read.
  ...PERMISSIONS.filter((permission) => permission.includes('.') && (IS_WHOLE || READS.includes(permission))).map(
    (permission) => [permission],
  ),
  ...PAIRS.filter((_pair, place) => place % (IS_WHOLE ? 10 : 60) === 0),
]

/** The names that a list knows, by the last word of its path, and some that it does not know. */
function namesOf(path: string): readonly (readonly [string, Kind])[] {
  const foreign = { identity: 'text', services: 'set', configs: 'set', 'service.name': 'text' } as const
  return Object.entries({ ...foreign, ...COMMON, ...SYMBOLS[path.slice(path.lastIndexOf('/'))] })
}

/** A list of either API, below an entity or not. */
interface List {
  readonly base: string
  readonly path: string
}

let twins: Twins
let lists: readonly List[]

beforeAll(async () => {
  twins = await twinNetworks(SETS)
  lists = ALL_ROWS.flatMap(({ base, route }): readonly List[] => {
    const [method, template = ''] = route.split(' ')
    const path = template.replace(/^\/([^/]+)\/\{id\}/, (_all, kind) => `/${kind}/${twins.ids[`/${kind}/a`] ?? ''}`)
    const isAsked = method === 'GET' && (base === MANAGEMENT || base === CLIENT) && !/[{}]|\/\/|\/$/.test(path)
    return isAsked ? [{ base, path }] : []
  })
}, 120_000)
afterAll(() => twins.close())

const clientOf = (mounted: MountedController, base: string, set: readonly string[]): ForeignClient =>
  foreignClient(mounted, base, twins.tokens.get(set.join()))

/** An answer, without what tells requests apart. */
async function asked(client: ForeignClient, path: string, query: string): Promise<string> {
  const { status, text } = await client.get(`${path}?${query}`)
  return `${status} ${text.replace(/"requestId":"[^"]*"/, '')}`
}

/** Questions about a name: conditions on it and on what it leads to, and both orders. */
function questionsOn(name: string, kind: Kind): readonly string[] {
  const filters = [
    ...conditionsOn(name, kind),
    `count(${name}) > 1`,
    `anyOf(${name}) != null`,
    ...LINKED.flatMap((linked) => [
      `${name}.${linked} > "a"`,
      `anyOf(${name}.${linked}) > "a"`,
      `not isEmpty(from ${name} where ${linked} > "a")`,
    ]),
    `anyOf(${name}.tags.key) = "a"`,
    `${name}.tags.key = "z"`,
  ]
  const [first = '', ...others] = filters.map((filter) => `limit=500&filter=${encodeURIComponent(filter)}`)
  return [
    first,
    `limit=500&sort=${encodeURIComponent(name)}`,
    `limit=500&filter=${encodeURIComponent(`isEmpty(from ${name} where true)`)}`,
    `limit=500&filter=${encodeURIComponent(`isEmpty(${name})`)}`,
    ...others,
    `limit=500&sort=${encodeURIComponent(`${name} desc`)}`,
    `limit=1&filter=${encodeURIComponent(`true sort by ${name} desc`)}`,
  ]
}
/** Questions of different kinds that come first: a name that none of them is taken with is none of the list. */
const FIRST_QUESTIONS = 4
/** Names that lead on, or that kinds have in common. */
const LINKED = ['name', 'data', ...(IS_SLOW_SUITE ? [] : ['roleAttributes', 'isAdmin', 'cost'])]

describe('a list answers alike in two networks that differ in what its reader may not read alone', () => {
  it.each(SETS.map((set) => [set.join(' and ') || 'no permission', set] as const))(
    'for who holds %s: whatever filters, orders and counts ask',
    { timeout: 300_000 },
    async (_name, set) => {
      const twin = await twins.twinOf(set)
      const told: string[] = []
      for (const { base, path } of lists) {
        // The client API shows everybody the same of others.
        if (base === CLIENT && set.length > 0) continue
        const [here, there] = [clientOf(twins.base, base, set), clientOf(twin, base, set)]
        const whole = await asked(here, path, 'limit=500')
        // A shown value differs where the reader may see it; a refusal tells nothing.
        if (!whole.startsWith('200') || whole !== (await asked(there, path, 'limit=500'))) continue
        for (const [name, kind] of namesOf(path)) {
          let refused = 0
          for (const question of questionsOn(name, kind)) {
            const [one, other] = [await asked(here, path, question), await asked(there, path, question)]
            if (one !== other)
              told.push(`${path}?${decodeURIComponent(question)}: ${one.slice(0, 3)}, ${other.slice(0, 3)}`)
            // A list that neither orders nor finds by a name does not know it.
            refused = one.startsWith('4') && other.startsWith('4') ? refused + 1 : Number.NEGATIVE_INFINITY
            if (refused === FIRST_QUESTIONS) break
          }
        }
      }
      expect(told).toEqual([])
    },
  )

  it('and differs for who may read all of it', async () => {
    const twin = await twins.twinOf(['service'])
    const found = async (mounted: MountedController, path: string, filter: string) =>
      (await (await adminOf(mounted)).get(`${path}?filter=${encodeURIComponent(filter)}`)).body.data.length
    for (const [path, filter] of [
      ['/services', 'anyOf(configs.tags.key) = "z"'],
      ['/service-policies', 'tags.key = "z"'],
      ['/terminators', 'cost = 9'],
    ] as const) {
      expect(await found(twins.base, path, filter), filter).not.toBe(await found(twin, path, filter))
    }
  })
})
