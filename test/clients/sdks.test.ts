import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPkiDirectory, type RunningServer, serve } from 'portcullis/node'
import { createTestController, type TestController } from 'portcullis/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { cSdk, jvmSdk } from './sdks.ts'

const ALL = { semantic: 'AnyOf', identityRoles: ['#all'] } as const

describe.each([
  { name: 'C, as PyPI has it', open: cSdk, sdk: 'ziti-sdk-c', unreachable: 'Operation did not complete in time' },
  {
    name: 'the JVM, as Maven Central has it',
    open: jvmSdk,
    sdk: 'ziti-sdk-java',
    unreachable: 'EdgeRouterUnavailable',
  },
])('the unmodified OpenZiti SDK for $name', ({ open, sdk, unreachable }) => {
  let directory: string
  let controller: TestController
  let server: RunningServer
  let lines: string[]
  let identityId: string

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'portcullis-sdk-'))
    const port = await freePort()
    const hosts = { hosts: ['localhost'], trustDomain: 'sdk.test', now: Date.now() }
    const material = await openPkiDirectory(join(directory, 'pki'), hosts)
    controller = await createTestController({ now: Date.now(), address: `localhost:${port}`, pki: material })
    server = await serve(controller, { port })
    const management = await controller.asAdmin()

    const { data: device } = await management.call('POST /identities', {
      body: { name: 'device', type: 'Device', isAdmin: false, enrollment: { ott: true } },
    })
    identityId = device.id
    await management.call('POST /services', { body: { name: 'wiki', encryptionRequired: true } })
    await management.call('POST /posture-checks', {
      body: {
        name: 'not Windows',
        typeId: 'OS',
        operatingSystems: [{ type: 'Linux', versions: [] }],
        roleAttributes: ['os'],
      },
    })
    await management.call('POST /service-policies', {
      body: { ...ALL, name: 'dial', type: 'Dial', serviceRoles: ['#all'], postureCheckRoles: ['#os'] },
    })
    await management.call('POST /edge-routers', { body: { name: 'router' } })
    await management.call('POST /edge-router-policies', { body: { ...ALL, name: 'reach', edgeRouterRoles: ['#all'] } })
    await management.call('POST /service-edge-router-policies', {
      body: { name: 'carry', semantic: 'AnyOf', edgeRouterRoles: ['#all'], serviceRoles: ['#all'] },
    })

    const { data: shown } = await management.call('GET /identities/{id}', { params: { id: identityId } })
    const token = join(directory, 'device.jwt')
    await writeFile(token, shown.enrollment.ott?.jwt ?? '')
    lines = await (await open()).drive(token, 'wiki')
  }, 300_000)

  afterAll(async () => {
    await server.close({ graceMs: 0 })
    await controller.close()
    await rm(directory, { recursive: true })
  })

  it('goes all the way to the edge router that nobody runs here', () => {
    expect(lines.at(-1)).toBe(`dial ${unreachable}`)
  })

  it('has logged in with its certificate and told what it is', async () => {
    const management = await controller.asAdmin()
    const { data } = await management.call('GET /identities/{id}', { params: { id: identityId } })
    expect(data).toMatchObject({ hasApiSession: true, sdkInfo: { type: sdk }, envInfo: { os: 'Linux' } })
  })

  it('has sent its posture, and was given a session to dial with', async () => {
    const management = await controller.asAdmin()
    const { data } = await management.call('GET /identities/{id}/posture-data', { params: { id: identityId } })
    expect(data.os).toMatchObject({ type: 'Linux' })
    const sessions = await management.call('GET /sessions', { query: { filter: `identityId = "${identityId}"` } })
    expect(sessions.data).toMatchObject([{ type: 'Dial', service: { name: 'wiki' } }])
  })
})
