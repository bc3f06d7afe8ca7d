import { chmod, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createController, SYSTEM_CALL } from 'portcullis'
import { postgresStorage, sqliteStorage } from 'portcullis/kysely'
import { memoryStorage } from 'portcullis/memory'
import { httpsFetch, openPkiDirectory } from 'portcullis/node'
import { createTestController } from 'portcullis/testing'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { StoreCopy } from '../../../adapters/tools/cli/commands/backup/store-copy.ts'
import { type Admin, logIn } from '../../../examples/traffic/network.ts'
import { freePort } from '../../support/free-port.ts'
import { createDatabase, startPostgres } from '../../support/postgres.ts'
import { portcullis, portIn } from './cli-process.ts'

const NAMES = Array.from({ length: 700 }, (_, at) => `service-${at}`)

let folder: string
const at = (name: string) => join(folder, name)

async function served(file: string) {
  return createController({
    storage: await sqliteStorage(at(file)),
    address: 'localhost:1280',
    pki: openPkiDirectory(at('pki')),
    admin: { username: 'admin', password: 'correct horse' },
  })
}

async function run(...args: readonly string[]) {
  const { code, stdout, stderr } = await portcullis([...args, '--json'], { cwd: folder }).ended
  return { code, stderr, value: stdout === '' ? undefined : JSON.parse(stdout) }
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portcullis-backup-'))
  const controller = await served('live.sqlite')
  for (const name of NAMES) await controller.engine.services.create(SYSTEM_CALL, { name })
  await controller.close()
}, 60_000)

afterAll(() => rm(folder, { recursive: true }))

const ADMIN = { username: 'admin', password: 'correct horse' }

function atPort(url: string, port: number): string {
  return url.replace('localhost', `127.0.0.1:${port}`)
}

/** Makes, renames and deletes services until it is refused; notes of each that was acknowledged whether it is there. */
async function writeUntilRefused(admin: Admin, writer: string, acknowledged: Map<string, boolean>): Promise<void> {
  try {
    for (let index = 0; ; index += 1) {
      const name = `${writer}-${index}`
      const id = await admin.create('/services', { name })
      if (index % 3 === 0) {
        await admin.call('PATCH', `/services/${id}`, { name: `${name}-renamed` })
        acknowledged.set(`${name}-renamed`, true)
      } else if (index % 3 === 1) {
        await admin.call('DELETE', `/services/${id}`)
        acknowledged.set(name, false)
      } else acknowledged.set(name, true)
    }
  } catch {
    // The server is gone.
  }
}

describe('backup', () => {
  it('makes copies that were opened, keeps as many as were asked for, and a drill says what is newer', async () => {
    const copy = ['backup', 'run', '--storage', 'sqlite:live.sqlite', '--to', 'copies', '--keep', '1']
    expect((await run(...copy)).value).toMatchObject({ removed: [] })
    await new Promise((resolve) => setTimeout(resolve, 1100))
    expect((await run(...copy)).value.removed).toHaveLength(1)
    const [made = ''] = await readdir(at('copies'))
    expect(await readdir(at('copies'))).toEqual([made, `${made}.sha256`])

    const controller = await served('live.sqlite')
    const [first] = (await controller.engine.services.list(SYSTEM_CALL)).items
    await controller.engine.services.delete(SYSTEM_CALL, first?.id ?? '')
    await controller.close()
    const drill = ['backup', 'drill', '--from', 'copies', '--storage', 'sqlite:live.sqlite', '--pki', 'pki']
    const { code, value } = await run(...drill)
    expect(code).toBe(0)
    expect(value).toMatchObject({ problems: [], controller: { hasAdmin: true } })
    expect(value.comparison.differences).toContainEqual({ kind: 'services', id: first?.id, what: 'missing' })
  }, 180_000)

  it('that is two days old is found by the controller that is served with the folder', async () => {
    expect((await run('backup', 'run', '--storage', 'sqlite:live.sqlite', '--to', 'watched')).code).toBe(0)
    const serving = ['serve', '--listen', '127.0.0.1:0', '--storage', 'sqlite:live.sqlite', '--pki', 'pki']
    const running = portcullis([...serving, '--backups', 'watched'], { cwd: folder })
    const port = portIn(await running.ready)
    const fetch = httpsFetch({ ca: await readFile(at('pki/ca.pem'), 'utf8') })
    const login = await logIn({ fetch: (request) => fetch(new Request(atPort(request.url, port), request)) }, ADMIN)
    const found = async () => Object.values(await login.call('GET', '/portcullis/v1/findings?finding=backups-old'))[0]
    expect(await found()).toMatchObject({ judged: 1, count: 0 })
    const [copy = ''] = await readdir(at('watched'))
    const before = (Date.now() - 3 * 86_400_000) / 1000
    await utimes(at(`watched/${copy}`), before, before)
    expect(await found()).toMatchObject({ judged: 1, entities: [{ name: 'the latest backup' }] })
    await rm(at('watched'), { recursive: true })
    expect(await found()).toMatchObject({ judged: 1, entities: [{ detail: expect.stringContaining('ENOENT') }] })
    running.kill('SIGTERM')
    await running.ended
  }, 180_000)

  it('tells that one bit of a copy is not as it was made', async () => {
    await run('backup', 'run', '--storage', 'sqlite:live.sqlite', '--to', 'flipped')
    const name = (await readdir(at('flipped'))).find((one) => one.endsWith('.sqlite')) ?? ''
    const bytes = await readFile(at(`flipped/${name}`))
    // The first letter of the name of a service, in all that a database holds of it.
    const place = bytes.indexOf('service-321')
    bytes[place] = (bytes[place] ?? 0) ^ 1
    await writeFile(at(`flipped/${name}`), bytes)
    const drill = ['backup', 'drill', '--from', 'flipped', '--storage', 'sqlite:none', '--pki', 'pki']
    const { code, value } = await run(...drill)
    expect(code).toBe(3)
    expect(value.problems[0]).toContain('the copy is not as it was made')
  }, 180_000)

  it('tells what is wrong with a backup that was damaged', async () => {
    await run('snapshot', '--storage', 'sqlite:live.sqlite', '--to', 'damaged.sqlite')
    const { DatabaseSync } = await import('node:sqlite')
    const database = new DatabaseSync(at('damaged.sqlite'))
    database.exec('delete from audit_records where id in (select min(id) from audit_records)')
    database.close()
    const { code, value } = await run(
      'backup',
      'drill',
      '--from',
      'damaged.sqlite',
      '--storage',
      'sqlite:none',
      '--pki',
      'pki',
    )
    expect(code).toBe(3)
    expect(value.problems[0]).toContain('audit trail')
  }, 180_000)
})

describe('backup drill', () => {
  const drill = (from: string) => run('backup', 'drill', '--from', from, '--storage', 'sqlite:none', '--pki', 'pki')

  it('names the entities that somebody altered, removed and added beside the audit trail', async () => {
    await run('snapshot', '--storage', 'sqlite:live.sqlite', '--to', 'altered.sqlite')
    const { DatabaseSync } = await import('node:sqlite')
    const database = new DatabaseSync(at('altered.sqlite'))
    database.exec("update services set name = 'renamed' where name = 'service-7'")
    database.exec("delete from services where name = 'service-8'")
    database.close()
    const { code, value } = await drill('altered.sqlite')
    expect(code).toBe(3)
    expect(value.problems).toEqual([
      expect.stringMatching(/^no audit record explains services "renamed" \(.+\): it was altered: name, as record \d+/),
      expect.stringMatching(
        /^no audit record explains services "service-8" \(.+\): it is absent and was never deleted/,
      ),
    ])
  }, 180_000)

  it('leaves nothing beside a backup that it reads, and reads one whose folder is read-only', async () => {
    await mkdir(at('kept'))
    await run('snapshot', '--storage', 'sqlite:live.sqlite', '--to', 'kept/copy.sqlite')
    for (const rest of ['-wal', '-shm']) await rm(at(`kept/copy.sqlite${rest}`), { force: true })
    const before = await readFile(at('kept/copy.sqlite'))
    await chmod(at('kept'), 0o500)
    expect((await drill('kept')).code).toBe(2)
    expect((await drill('kept/copy.sqlite')).code).toBe(0)
    await chmod(at('kept'), 0o700)
    expect(await readdir(at('kept'))).toEqual(['copy.sqlite'])
    expect((await readFile(at('kept/copy.sqlite'))).equals(before)).toBe(true)
    const restored = portcullis(['restore', '--from', 'kept/copy.sqlite', '--storage', 'sqlite:back.sqlite'], {
      cwd: folder,
    })
    expect((await restored.ended).code).toBe(0)
    expect(await readdir(at('kept'))).toEqual(['copy.sqlite'])
  }, 180_000)

  it('answers 3 for what is no whole backup, and says which', async () => {
    await run('snapshot', '--storage', 'sqlite:live.sqlite', '--to', 'whole.sqlite')
    const whole = await readFile(at('whole.sqlite'))
    const { DatabaseSync } = await import('node:sqlite')
    const foreign = new DatabaseSync(at('foreign.sqlite'))
    foreign.exec('create table others (id integer)')
    foreign.close()
    const spoiled = Buffer.from(whole)
    spoiled.fill(0xff, 8192, 65_536)
    const files = {
      'cut.sqlite': whole.subarray(0, whole.length >> 1),
      'spoiled.sqlite': spoiled,
      'text.sqlite': Buffer.from('no database at all, but words'.repeat(100)),
      'empty.sqlite': Buffer.alloc(0),
    }
    for (const [name, bytes] of Object.entries(files)) await writeFile(at(name), bytes)
    for (const name of [...Object.keys(files), 'foreign.sqlite']) {
      const { code, value } = await drill(name)
      expect([name, code]).toEqual([name, 3])
      expect(value).toMatchObject({ problems: [expect.stringMatching(/damaged|holds no records of a controller/)] })
      expect((await readdir(folder)).filter((found) => found.startsWith(`${name}-`))).toEqual([])
    }
  }, 180_000)
})

describe('copy', () => {
  it('moves a network while it is written to: every record is there after the switch, the audit chain too', async () => {
    const controller = await served('live.sqlite')
    const copying = portcullis(['copy', '--from', 'sqlite:live.sqlite', '--to', 'sqlite:moved.sqlite', '--follow'], {
      cwd: folder,
    })
    const writing = (async () => {
      for (let index = 0; index < 100; index += 1)
        await controller.engine.services.create(SYSTEM_CALL, { name: `late-${index}` })
    })()
    expect(await copying.ready).toContain('level at revision')
    await writing
    await controller.engine.services.create(SYSTEM_CALL, { name: 'last' })
    await controller.close()
    copying.kill('SIGINT')
    const { code, stdout } = await copying.ended
    expect(stdout).toContain('records are in both storages')
    expect(code).toBe(0)
    const moved = await served('moved.sqlite')
    const asked = { filter: 'name in ["last", "late-99", "service-699"]', sort: 'name' }
    const { items } = await moved.engine.services.list(SYSTEM_CALL, asked)
    expect(items.map(({ name }) => name)).toEqual(['last', 'late-99', 'service-699'])
    await moved.close()
    expect((await run('audit', 'verify', '--storage', 'sqlite:moved.sqlite')).value).toMatchObject({ isWhole: true })
  }, 180_000)

  it('moves what is served from SQLite to PostgreSQL under writers: no acknowledged write is lost, sessions go on', async () => {
    const { url, drop } = await createDatabase()
    onTestFinished(drop)
    const serve = (storage: string, port: number) =>
      portcullis(['serve', '--listen', `127.0.0.1:${port}`, '--storage', storage, '--pki', 'pki'], {
        cwd: folder,
        variables: { PORTCULLIS_ADMIN_USERNAME: 'admin', PORTCULLIS_ADMIN_PASSWORD: 'correct horse' },
      })
    const before = serve('sqlite:moving.sqlite', 0)
    const port = portIn(await before.ready)
    const fetch = httpsFetch({ ca: await readFile(at('pki/ca.pem'), 'utf8') })
    const login = await logIn({ fetch: (request) => fetch(new Request(atPort(request.url, port), request)) }, ADMIN)
    const acknowledged = new Map<string, boolean>()
    const writers = ['a', 'b', 'c'].map((writer) => writeUntilRefused(login, writer, acknowledged))
    const copying = portcullis(['copy', '--from', 'sqlite:moving.sqlite', '--to', url, '--follow'], { cwd: folder })
    expect(await copying.ready).toContain('level at revision')
    const atLevel = acknowledged.size
    await vi.waitUntil(() => acknowledged.size > atLevel + 100, { timeout: 60_000 })
    const stoppedAt = performance.now()
    before.kill('SIGTERM')
    await before.ended
    await Promise.all(writers)
    copying.kill('SIGINT')
    const { code, stdout, stderr } = await copying.ended
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('records are in both storages')
    const after = serve(url, port)
    await after.ready
    console.log(`${acknowledged.size} writes; nobody served for ${Math.round(performance.now() - stoppedAt)} ms`)
    // The session is the one of before.
    const lost: string[] = []
    for (const [name, isThere] of acknowledged) {
      const found = Object.values(await login.call('GET', `/services?filter=name=%22${name}%22`))
      if (found.length !== (isThere ? 1 : 0)) lost.push(name)
    }
    expect(lost).toEqual([])
    after.kill('SIGTERM')
    await after.ended
    expect((await run('audit', 'verify', '--storage', url)).value).toMatchObject({ isWhole: true })
    // A drill of the database against itself finds it level; one of the file before finds nothing that is newer but logins.
    const drill = await run('backup', 'drill', '--from', url, '--storage', url, '--pki', 'pki')
    expect(drill).toMatchObject({ code: 0, value: { problems: [], controller: { hasAdmin: true } } })
    expect(drill.value.comparison).toMatchObject({ differenceCount: 0 })
  }, 300_000)

  it('takes over two entities that exchange their names among more changes than one write holds', async () => {
    const [from, to] = [memoryStorage(), memoryStorage()]
    const controller = await createTestController({ storage: from })
    const { services } = controller.engine
    const ids: string[] = []
    for (let index = 0; index < 600; index += 1)
      ids.push((await services.create(SYSTEM_CALL, { name: `s${index}` })).id)
    const copy = new StoreCopy(from, to)
    await copy.begin()
    const [first = '', ...others] = ids
    const last = others.pop() ?? ''
    await services.patch(SYSTEM_CALL, first, { name: 'meanwhile' })
    for (const id of others) await services.patch(SYSTEM_CALL, id, { roleAttributes: ['touched'] })
    await services.patch(SYSTEM_CALL, last, { name: 's0' })
    await services.patch(SYSTEM_CALL, first, { name: 's599' })
    while ((await copy.follow()) > 0);
    expect(await copy.compare()).toMatchObject({ differenceCount: 0 })
    await controller.close()
  })

  it('does not write into a storage that holds records', async () => {
    const { code, stderr } = await run('copy', '--from', 'sqlite:live.sqlite', '--to', 'sqlite:moved.sqlite')
    expect(code).toBe(2)
    expect(stderr).toContain('holds records already')
  })
})

describe('PostgreSQL', () => {
  it('goes back to a point in time by the lines of the guide, and a drill tells what came after', async () => {
    const home = await mkdtemp(join(tmpdir(), 'portcullis-point-in-time-'))
    const port = await freePort()
    const placed = (text: string) =>
      text.replaceAll(/(?<![\w/])\/(archive|backup|restored)\b/g, `${home}/$1`).replaceAll('5433', String(port))
    const guide = placed(await readFile(join(import.meta.dirname, '../../../docs/storage.md'), 'utf8'))
    const [settings = ''] = /^archive_mode = on\n[^`]*/m.exec(guide) ?? []
    const server = await startPostgres({
      isDurable: true,
      settings: settings
        .trim()
        .split('\n')
        .map((line) => line.replace(/ = '?(.*?)'?$/, '=$1')),
    })
    onTestFinished(() => server.stop())
    await chmod(home, 0o777)
    server.shell(`mkdir -p ${home}/archive ${home}/backup`)
    const [backup = '', restore = ''] = [...guide.matchAll(/^```sh point-in-time\n([^`]*)^```$/gm)].map(
      ([, lines]) => lines,
    )
    const controller = await createController({
      storage: await postgresStorage({ connection: server.url }),
      address: 'localhost:1280',
      pki: openPkiDirectory(at('pki')),
      admin: ADMIN,
    })
    const services = controller.engine.services
    // The settings of this server stand on its command line, which no backup has.
    for (const setting of ['max_connections = 200', `unix_socket_directories = '${home}'`])
      server.shell(`psql --command "alter system set ${setting}"`)
    server.shell(backup)
    const { id } = await services.create(SYSTEM_CALL, { name: 'deleted by mistake' })
    await sleep(1100)
    // PostgreSQL takes no other letters than those of zones.
    const moment = new Date().toISOString().replace('T', ' ').replace('Z', '+00')
    await sleep(1100)
    await services.delete(SYSTEM_CALL, id)
    const { id: later } = await services.create(SYSTEM_CALL, { name: 'later' })
    server.shell(restore.replace(/recovery_target_time = '[^']*'/, `recovery_target_time = '${moment}'`))
    onTestFinished(() => void server.shell(`pg_ctl --pgdata ${home}/restored --mode immediate stop; rm -rf ${home}/*`))
    const restored = server.url.replace(/:\d+\//, `:${port}/`)
    await vi.waitUntil(() => server.shell(`psql ${restored} -Atc 'select pg_is_in_recovery()'`).trim() === 'f', 60_000)
    const drill = await run('backup', 'drill', '--from', restored, '--storage', server.url, '--pki', 'pki')
    expect(drill).toMatchObject({ code: 0, value: { problems: [], controller: { hasAdmin: true } } })
    expect(drill.value.comparison.differences).toEqual(
      expect.arrayContaining([
        { kind: 'services', id, what: 'missing' },
        { kind: 'services', id: later, what: 'added' },
      ]),
    )
    await controller.close()
    const again = await createController({
      storage: await postgresStorage({ connection: restored }),
      address: 'localhost:1280',
      pki: openPkiDirectory(at('pki')),
    })
    expect((await again.engine.services.list(SYSTEM_CALL)).items.map(({ name }) => name)).toEqual([
      'deleted by mistake',
    ])
    await again.close()
    expect((await run('audit', 'verify', '--storage', restored)).value).toMatchObject({ isWhole: true })
  }, 180_000)
})
