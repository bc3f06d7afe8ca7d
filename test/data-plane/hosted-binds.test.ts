import { describe, expect, it } from 'vitest'
import { EDGE_HEADER, EDGE_TYPE, edgeMessage, TRUE, textIn } from '../../adapters/network/channel/edge-messages.ts'
import { readUint32, uint32Header } from '../../adapters/network/channel/header-values.ts'
import { type EdgeWorld, edgeWorld, type PlayedEndpoint, until } from '../support/edge-world.ts'

const ASKED: [number, Uint8Array][] = [[EDGE_HEADER.supportsBindSuccess, TRUE]]

/** A controller that takes terminators once `go` is called. */
async function slowController() {
  let go: () => void = () => undefined
  const ready = new Promise<void>((resolve) => {
    go = resolve
  })
  const asked: string[] = []
  const world = await edgeWorld(undefined, async ({ type }) => {
    asked.push(type)
    if (type === 'create-terminator') await ready
  })
  return { world, go, asked }
}

const terminators = async ({ controller }: EdgeWorld) => (await controller.admin.call('GET /terminators')).data.length
const typesOf = (endpoint: PlayedEndpoint) => endpoint.heard.map(({ contentType }) => contentType)
const closedOf = ({ heard }: PlayedEndpoint) => heard.filter(({ contentType }) => contentType === EDGE_TYPE.stateClosed)

describe('a host that binds a service at an edge router', () => {
  it('is answered at once, and hears of its success when the controller has the terminator', async () => {
    const { world, go, asked } = await slowController()
    const host = await world.connect(await world.device('host', ['hosts']))
    expect((await host.bind(1, { headers: ASKED })).contentType).toBe(EDGE_TYPE.stateConnected)
    await until(() => asked.includes('create-terminator'))
    expect([await terminators(world), typesOf(host)]).toEqual([0, []])
    go()
    await until(() => host.heard.length > 0)
    expect([await terminators(world), typesOf(host)]).toEqual([1, [EDGE_TYPE.bindSuccess]])
  })

  it('hears no success that it did not ask for', async () => {
    const world = await edgeWorld()
    const host = await world.connect(await world.device('host', ['hosts']))
    await host.bind(1)
    await until(async () => (await terminators(world)) === 1)
    expect(typesOf(host)).toEqual([])
  })

  it('hears why it hosts nothing when the controller refuses what was answered, and may bind under the id again', async () => {
    const { world, go } = await slowController()
    const device = await world.device('host', ['hosts'])
    const host = await world.connect(device)
    await host.bind(1, { headers: ASKED })
    const { admin } = world.controller
    const params = { id: device.id }
    await admin.call('PATCH /identities/{id}', { params, body: { roleAttributes: [] } })
    go()
    await until(() => closedOf(host).length === 1)
    expect([closedOf(host).map(textIn), await terminators(world)]).toEqual([['Invalid Session'], 0])
    await admin.call('PATCH /identities/{id}', { params, body: { roleAttributes: ['hosts'] } })
    await host.bind(1, { headers: ASKED })
    await until(() => typesOf(host).includes(EDGE_TYPE.bindSuccess))
    expect(await terminators(world)).toBe(1)
  })

  it('leaves no terminator when it unbinds before the controller has taken it', async () => {
    const { world, go, asked } = await slowController()
    const host = await world.connect(await world.device('host', ['hosts']))
    await host.bind(1, { headers: ASKED })
    host.send(edgeMessage(EDGE_TYPE.unbind, 1))
    await until(() => closedOf(host).length === 1)
    go()
    await until(() => asked.filter((type) => type === 'remove-terminators').length > 1)
    await expect.poll(() => terminators(world)).toBe(0)
    expect(typesOf(host)).toEqual([EDGE_TYPE.stateClosed])
  })

  it('hears one success however often it binds under one id', async () => {
    const { world, go } = await slowController()
    const host = await world.connect(await world.device('host', ['hosts']))
    const headers: [number, Uint8Array][] = [...ASKED, [EDGE_HEADER.listener, Buffer.from('the same')]]
    for (let time = 0; time < 2; time += 1) {
      expect((await host.bind(1, { headers })).contentType).toBe(EDGE_TYPE.stateConnected)
    }
    expect(typesOf(host)).toEqual([])
    go()
    await until(() => host.heard.length > 0)
    expect(host.heard.map(({ headers: heard }) => readUint32(heard, EDGE_HEADER.connection))).toEqual([1])
    expect(await terminators(world)).toBe(1)
  })

  it('has the cost that it said last, where the controller was away as it said so', async () => {
    let failures = 2
    const world = await edgeWorld(undefined, async ({ type }) => {
      if (type !== 'update-terminator' || failures === 0) return
      failures -= 1
      throw new Error('the controller is away')
    })
    const host = await world.connect(await world.device('host', ['hosts']))
    await host.host(1)
    host.send(edgeMessage(EDGE_TYPE.updateBind, 1, [[EDGE_HEADER.cost, uint32Header(300)]]))
    host.send(edgeMessage(EDGE_TYPE.updateBind, 1, [[EDGE_HEADER.cost, uint32Header(400)]]))
    const costs = async () => (await world.controller.admin.call('GET /terminators')).data.map(({ cost }) => cost)
    await until(async () => String(await costs()) === '400')
  })
})
