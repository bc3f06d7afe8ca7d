import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SYSTEM_CALL } from 'portcullis'
import { serve } from 'portcullis/node'
import { createTestController, TEST_ADMIN } from 'portcullis/testing'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../support/free-port.ts'
import { endAll, portcullis } from './cli-process.ts'

const variables = { PORTCULLIS_ADMIN_USERNAME: TEST_ADMIN.username, PORTCULLIS_ADMIN_PASSWORD: TEST_ADMIN.password }

async function scene() {
  const cwd = await mkdtemp(join(tmpdir(), 'portcullis-audit-'))
  const port = await freePort()
  const options = { clock: 'live', address: `localhost:${port}` } as const
  const controller = await createTestController(options)
  await writeFile(join(cwd, 'ca.pem'), controller.caPem)
  let streams = 0
  const served: Parameters<typeof serve>[0] = {
    tls: () => controller.tls(),
    fetch: async (request, connection) => {
      const answer = await controller.fetch(request, connection)
      if (request.headers.get('accept') === 'text/event-stream') streams += 1
      return answer
    },
  }
  let server = await serve(served, { port })
  onTestFinished(async () => {
    await server.close({ graceMs: 0 })
    await controller.close()
    await rm(cwd, { recursive: true })
  })
  const where = ['--url', `https://localhost:${port}`, '--ca', 'ca.pem']
  const run = (...args: readonly string[]) => portcullis([...args, ...where], { cwd, variables })
  const restart = async () => {
    await server.close({ graceMs: 0 })
    server = await serve(served, { port })
  }
  const service = async (name: string) =>
    (await controller.admin.call('POST /services', { body: { name, encryptionRequired: true } })).data.id
  return { controller, run, restart, service, streams: () => streams }
}

describe('portcullis audit', () => {
  afterAll(endAll)

  it('follows the stream of a controller, and goes on where it was cut', async () => {
    const { run, restart, service, controller, streams } = await scene()
    const following = run('audit', '--follow', '--filter', 'kind = "services"')
    const lines = () => following.stdoutSoFar().trim().split('\n').filter(Boolean)
    const names = () => lines().map((line): unknown => JSON.parse(line).entity.name)
    await expect.poll(streams, { timeout: 25_000 }).toBe(1)
    await service('before')
    await expect.poll(names, { timeout: 15_000 }).toEqual(['before'])
    await restart()
    await service('while it was cut')
    const { id } = await controller.engine.services.list(SYSTEM_CALL).then(({ items }) => items[0] ?? expect.fail())
    await controller.admin.call('PATCH /services/{id}', { params: { id }, body: { name: 'after' } })
    await expect.poll(names, { timeout: 15_000 }).toEqual(['before', 'while it was cut', 'after'])
    expect(streams()).toBe(2)
    following.kill('SIGTERM')
    await following.ended
  }, 90_000)

  it('plans to take a change back, and does it with --apply', async () => {
    const { run, service, controller } = await scene()
    const id = await service('web')
    await controller.admin.call('PATCH /services/{id}', { params: { id }, body: { name: 'site' } })
    const record = async () => {
      const { stdout } = await run('audit', '--entity', id, '--limit', '1', '--json').ended
      return String(JSON.parse(stdout)[0].id)
    }
    const last = await record()
    const planned = await run('audit', 'undo', last).ended
    expect(planned).toMatchObject({
      code: 0,
      stderr: '',
      stdout: `services 'site' would be changed back.
  name: "site" → "web"
no access would change, posture aside.
Nothing was written: --apply does it.
`,
    })
    expect((await controller.engine.services.get(SYSTEM_CALL, id)).name).toBe('site')
    expect((await run('audit', 'undo', last, '--apply').ended).stdout).toContain("services 'site' was changed back.")
    expect((await controller.engine.services.get(SYSTEM_CALL, id)).name).toBe('web')
    expect(await run('audit', 'undo', last, '--apply').ended).toMatchObject({
      code: 3,
      stdout: "Nothing is undone of services 'site': it is as it was before.\n",
    })
    expect(await run('audit', 'undo').ended).toMatchObject({ code: 2 })
  }, 90_000)
})
