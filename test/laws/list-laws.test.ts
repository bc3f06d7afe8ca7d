import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { adminOf, create, foreignClient } from '../contract/http/foreign-client.ts'
import { ROWS } from '../support/api-rows.ts'
import { mount } from '../support/mount.ts'

const LISTS = ROWS.flatMap(({ base, route, shape: { symbols } }) => (symbols ? [{ base, route, symbols }] : []))

/** Conditions on a symbol of a kind that hold for some records and not for others. */
function conditionOn([name, { kind }]: [string, { readonly kind: string }]): fc.Arbitrary<string> {
  const text = fc.constantFrom('""', '"a"', '"b"', '"default"', '"zzz"')
  switch (kind) {
    case 'string':
      return fc
        .tuple(fc.constantFrom('=', '!=', '<', '>=', 'contains ', 'not contains '), text)
        .map(([op, value]) => `${name} ${op} ${value}`)
    case 'integer':
    case 'number':
      return fc.constantFrom(`${name} > 0`, `${name} between 0 and 5`, `${name} not in [0, 7]`)
    case 'boolean':
      return fc.constantFrom(name, `${name} != true`, `${name} = null`)
    case 'instant':
      return fc.constantFrom(`${name} > datetime(2020-01-01T00:00:00Z)`, `${name} != null`)
    case 'set':
      return fc.constantFrom(
        `anyOf(${name}) = "a"`,
        `allOf(${name}) != "a"`,
        `isEmpty(${name})`,
        `count(${name}) >= 1`,
        `isEmpty(from ${name} where id contains "a")`,
      )
    default:
      return fc.constantFrom(`${name}.key = "a"`, `${name}.key != null`, `${name}.other not contains "x"`)
  }
}

function filterOver(symbols: Readonly<Record<string, { readonly kind: string }>>): fc.Arbitrary<string> {
  const condition = fc.oneof(...Object.entries(symbols).map(conditionOn))
  return fc.oneof(
    condition,
    fc
      .tuple(condition, fc.constantFrom('and', 'or'), condition)
      .map(([left, word, right]) => `(${left}) ${word} ${right}`),
    fc.tuple(condition, condition).map(([left, right]) => `not (${left} or not ${right})`),
  )
}

describe('a filter and its opposite', () => {
  it('share the entities of every list between them', async () => {
    const mounted = await mount()
    const admin = await adminOf(mounted)
    const parents = await populate(admin)
    for (const { base, route, symbols } of LISTS) {
      const path = route
        .slice('GET '.length)
        .replace(/^\/([\w-]+)\/\{id\}/, (_all, kind: string) => `/${kind}/${parents[kind] ?? 'unknown'}`)
      const client = foreignClient(mounted, base, admin.token)
      const count = async (filter: string) => {
        const { status, text, body } = await client.get(`${path}?limit=1&filter=${encodeURIComponent(filter)}`)
        expect(status, `${path} ${filter} ${text}`).toBe(200)
        return body.meta.pagination.totalCount
      }
      const total = await count('true')
      const property = fc.asyncProperty(filterOver(symbols), async (filter) => {
        expect((await count(filter)) + (await count(`not (${filter})`)), `${path} ${filter}`).toBe(total)
      })
      await fc.assert(property, { numRuns: 6, seed: 7 })
    }
  }, 120_000)
})

/** A few entities of each kind that relate to each other; the id of one of each. */
async function populate(admin: Awaited<ReturnType<typeof adminOf>>): Promise<Readonly<Record<string, string>>> {
  const parents: Record<string, string> = {}
  const make = async (kind: string, body: object) => {
    parents[kind] = await create(admin, `/${kind}`, body)
    return parents[kind]
  }
  for (const name of ['b', 'a']) {
    const tags = name === 'a' ? { key: 'a' } : {}
    const type = await make('config-types', { name, schema: {} })
    const config = await make('configs', { name, configTypeId: type, data: {} })
    const service = await make('services', { name, configs: [config], roleAttributes: [name], tags })
    const router = await make('edge-routers', { name, roleAttributes: [name], tags })
    await make('transit-routers', { name: `transit ${name}` })
    await make('identities', { name, type: 'User', isAdmin: false, roleAttributes: [name], enrollment: { ott: true } })
    const all = { name, semantic: 'AnyOf', tags }
    await make('service-policies', { ...all, type: 'Dial', identityRoles: ['#all'], serviceRoles: ['#a'] })
    await make('edge-router-policies', { ...all, identityRoles: [`#${name}`], edgeRouterRoles: ['#all'] })
    await make('service-edge-router-policies', { ...all, serviceRoles: ['#all'], edgeRouterRoles: [`#${name}`] })
    await make('posture-checks', { name, typeId: 'MFA', roleAttributes: [name] })
    await make('terminators', { address: `tcp:${name}:1`, binding: 'transport', service, router })
  }
  return parents
}
