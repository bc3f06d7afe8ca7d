import { SYSTEM_CALL } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { createTestController } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { expectDone } from '../contract/http/errors.ts'
import { adminOf, create, read } from '../contract/http/foreign-client.ts'
import { mount } from '../support/mount.ts'
import { withSharedPki } from '../support/shared-pki.ts'
import { configTypes } from '../support/stored-records.ts'

type JsonObject = Readonly<Record<string, unknown>>

const INTERCEPT = 'g7cIWbcGg'
const HOST = 'NH5p4FpGR'
const TUNNELER_SERVER = 'cea49285-6c07-42cf-9f52-09a9b115c783'

/** `intercept.v1` as version 0.1.0 stored it. */
const RELEASED_INTERCEPT = (() => {
  const port = { type: 'integer', minimum: 0, maximum: 65_535 }
  const protocol = { type: 'string', enum: ['tcp', 'udp'] }
  const address = { type: 'string', format: 'idn-hostname', not: { pattern: '^$' } }
  const set = (items: object) => ({ type: 'array', items, minItems: 1, uniqueItems: true })
  const closed = { type: 'object', additionalProperties: false }
  const range = { ...closed, properties: { low: port, high: port }, required: ['low', 'high'] }
  const seconds = { type: 'integer', minimum: 0, maximum: 2_147_483_647 }
  return {
    $id: 'http://edge.openziti.org/schemas/intercept.v1.config.json',
    ...closed,
    properties: {
      protocols: set(protocol),
      addresses: set(address),
      portRanges: set(range),
      dialOptions: { ...closed, properties: { identity: { type: 'string' }, connectTimeoutSeconds: seconds } },
      sourceIp: { type: 'string' },
      allowedSourceAddresses: set(address),
    },
    required: ['protocols', 'addresses', 'portRanges'],
  }
})()

/** The config types of a new network. */
async function builtInTypes() {
  const { engine } = await createTestController(await withSharedPki())
  return (await engine.configTypes.list(SYSTEM_CALL, { limit: 500 })).items
}

/** The values of a form that is made from a schema, before anybody fills it in: an empty list for a member that says that it is one. */
function emptyForm({ properties }: JsonObject): Record<string, unknown> {
  const lists = Object.entries(Object(properties)).filter(([, member]) => Object(member).type === 'array')
  return Object.fromEntries(lists.map(([name]) => [name, []]))
}

/** Every `$ref` in a schema. */
function references(node: unknown): readonly string[] {
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([name, member]) => (name === '$ref' ? [String(member)] : references(member)))
}

describe('the schemas of the built-in config types', () => {
  it('refer to definitions of their own alone', async () => {
    const types = await builtInTypes()
    expect(types.map(({ name }) => name)).toEqual(expect.arrayContaining(['intercept.v1', 'host.v1', 'host.v2']))
    for (const { name, schema } of types) {
      const known = Object.keys(Object(Object(schema).definitions)).map((definition) => `#/definitions/${definition}`)
      expect(known, name).toEqual(expect.arrayContaining([...references(schema)]))
    }
  })

  it('a list that may not be empty tells by reference that it is one', async () => {
    const admin = await adminOf(await mount())
    const { properties, definitions } = (await read(admin, `/config-types/${INTERCEPT}`)).schema
    expect(definitions.inhabitedSet).toEqual({ type: 'array', minItems: 1, uniqueItems: true })
    const setOf = (name: string) => [
      { $ref: '#/definitions/inhabitedSet' },
      { items: { $ref: `#/definitions/${name}` } },
    ]
    expect(properties.protocols).toEqual({ allOf: setOf('protocolName') })
    expect(properties.addresses).toEqual({ allOf: setOf('listenAddress') })
    expect(properties.portRanges).toEqual({ allOf: setOf('portRange') })
    expect(properties.allowedSourceAddresses).toMatchObject({ allOf: setOf('listenAddress') })
  })

  it.each([
    ['intercept.v1', INTERCEPT, { protocols: ['tcp'], addresses: ['a.b'], portRanges: [{ low: 1, high: 2 }] }],
    ['host.v1', HOST, { protocol: 'tcp', address: 'localhost', port: 80 }],
    ['host.v1 that forwards', HOST, forwarding()],
    ['host.v2', 'host.v2', { terminators: [{ protocol: 'udp', address: '::1', port: 53 }] }],
    ['ziti-tunneler-server.v1', TUNNELER_SERVER, { hostname: 'localhost', port: 80 }],
    ['proxy.v1', 'proxy.v1', { port: 8080, protocols: ['tcp'] }],
  ])('a config of %s is made by a form that begins with empty lists', async (_name, configTypeId, filledIn) => {
    const admin = await adminOf(await mount())
    const { schema } = await read(admin, `/config-types/${configTypeId}`)
    const data = { ...emptyForm(schema), ...filledIn }
    const id = await create(admin, '/configs', { name: 'made', configTypeId, data, tags: {} })
    expect((await read(admin, `/configs/${id}`)).data).toEqual(data)
  })
})

describe('a store of an earlier version', () => {
  /** A network whose `intercept.v1` has some schema, started again. */
  async function restarted(schema: JsonObject) {
    const world = memoryStorage()
    const before = await mount({ storage: world })
    const admin = await adminOf(before)
    const data = { protocols: ['tcp'], addresses: ['a.b'], portRanges: [{ low: 1, high: 2 }] }
    const config = await create(admin, '/configs', { name: 'kept', configTypeId: INTERCEPT, data })
    expectDone(await admin.delete('/config-types/host.v2'))
    await world.write(async (tx) => {
      const stored = await tx.collection(configTypes).get(INTERCEPT)
      if (stored !== undefined) await tx.collection(configTypes).update({ ...stored, schema, tags: { a: 'b' } })
    })
    const after = await adminOf(await mount({ storage: world.fork() }))
    return { admin: after, config, type: await read(after, `/config-types/${INTERCEPT}`) }
  }

  it('has the present schemas after the next start, and its configs fulfil them', async () => {
    const { admin, config, type } = await restarted(RELEASED_INTERCEPT)
    expect(type.schema).toEqual((await builtInTypes()).find(({ id }) => id === INTERCEPT)?.schema)
    expect(type).toMatchObject({ name: 'intercept.v1', tags: { a: 'b' } })
    const { data } = await read(admin, `/configs/${config}`)
    expectDone(await admin.patch(`/configs/${config}`, { data }))
  })

  it('keeps a schema that was changed, and is not given a type again that was deleted', async () => {
    const changed = { ...RELEASED_INTERCEPT, required: ['protocols'] }
    const { admin, type } = await restarted(changed)
    expect(type.schema).toEqual(changed)
    expect((await admin.get('/config-types/host.v2')).status).toBe(404)
  })
})

function forwarding() {
  return {
    forwardProtocol: true,
    allowedProtocols: ['tcp'],
    forwardAddress: true,
    allowedAddresses: ['*.a.b'],
    forwardPort: true,
    allowedPortRanges: [{ low: 1, high: 65_535 }],
  }
}
