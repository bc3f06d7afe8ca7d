import { writeFileSync } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { endAll, portcullis } from './cli-process.ts'
import { runProgram } from './run-program.ts'
import { type ServedNetwork, servedNetwork } from './served-network.ts'

let network: ServedNetwork
let folder: string
let tests = 0
beforeAll(async () => {
  network = await servedNetwork()
  await writeFile(join(network.folder, 'password'), network.environment.PORTCULLIS_ADMIN_PASSWORD ?? '')
  await runProgram(['migrate', '--storage', `sqlite:${live()}`], {})
})
afterAll(async () => {
  endAll()
  await network[Symbol.asyncDispose]()
})
beforeEach(async () => {
  tests += 1
  folder = join(network.folder, `test ${tests}`)
  await mkdir(folder)
})

const login = () => ['login', network.url, '--username', 'keeper', '--password-file', join(network.folder, 'password')]
const live = () => join(network.folder, 'live.sqlite')
const inFolder = (name: string) => join(folder, name)
const variables = () => ({ ...network.environment, PORTCULLIS_CONFIG_DIR: folder })

/** Runs a command; answers the files and folders that it wrote out to the disk. */
async function syncedBy(...args: readonly string[]): Promise<ReadonlySet<number>> {
  const handle = await open(network.folder)
  await handle.close()
  const prototype: { sync(this: FileHandle): Promise<void> } = Object.getPrototypeOf(handle)
  const { sync } = prototype
  const inodes = new Set<number>()
  const watched = vi.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
    inodes.add((await this.stat()).ino)
    await sync.call(this)
  })
  try {
    const { code, stderr } = await runProgram(args, variables())
    expect([code, stderr]).toEqual([0, expect.anything()])
    return inodes
  } finally {
    watched.mockRestore()
  }
}

/** Runs a command on a full disk. */
async function onFullDisk(...args: readonly string[]) {
  return portcullis(args, { cwd: folder, variables: variables(), fileBlocks: 0 }).ended
}

describe('a file that a command wrote survives a loss of power', () => {
  it.each([
    ['a login', login, 'profiles/default.json'],
    ['a token', () => ['invite', 'laptop', '--out', inFolder('laptop.jwt')], 'laptop.jwt'],
    ['a token anew', () => ['invite', 'laptop', '--out', inFolder('laptop.jwt'), '--force'], 'laptop.jwt'],
    ['a model', () => ['export', '--output', inFolder('network.yaml')], 'network.yaml'],
    ['a copy', () => ['snapshot', '--storage', `sqlite:${live()}`, '--to', inFolder('copy.sqlite')], 'copy.sqlite'],
    ['keys', () => ['pki', 'create', '--pki', inFolder('own/pki')], 'own/pki/ca.key'],
  ])('%s', async (_what, args, name) => {
    const written = await syncedBy(...args())
    const file = inFolder(name)
    expect(written).toContain((await stat(file)).ino)
    expect(written).toContain((await stat(dirname(file))).ino)
  })
})

describe('a file that a command could not write whole', () => {
  it('is no login: the former one stays, and nothing beside it', async () => {
    await runProgram(login(), variables())
    const before = await readFile(inFolder('profiles/default.json'), 'utf8')
    const { code, stderr } = await onFullDisk(...login())
    expect([code, stderr]).toEqual([2, expect.stringContaining(`${inFolder('profiles/default.json')}: EFBIG`)])
    expect(await readFile(inFolder('profiles/default.json'), 'utf8')).toBe(before)
    expect(await readdir(inFolder('profiles'))).toEqual(['default.json'])
  })

  it('is no token: the next try gives the same token out', async () => {
    const { code, stderr } = await onFullDisk('invite', 'tablet', '--out', 'tablet.jwt')
    expect([code, stderr]).toEqual([2, expect.stringContaining('tablet.jwt: EFBIG')])
    expect(stderr).toContain('portcullis invite gives its token out again')
    expect(await readdir(folder)).toEqual([])
    expect((await runProgram(['invite', 'tablet', '--out', inFolder('tablet.jwt')], variables())).code).toBe(0)
  })

  it('is no model: the former one stays with its permissions', async () => {
    await writeFile(inFolder('network.yaml'), 'former', { mode: 0o640 })
    await symlink('network.yaml', inFolder('link.yaml'))
    await onFullDisk('schema', '--output', 'link.yaml', '--force')
    expect(await readFile(inFolder('network.yaml'), 'utf8')).toBe('former')
    expect((await runProgram(['schema', '--output', inFolder('link.yaml'), '--force'], variables())).code).toBe(0)
    expect(JSON.parse(await readFile(inFolder('network.yaml'), 'utf8'))).toMatchObject({ type: 'object' })
    expect((await stat(inFolder('network.yaml'))).mode & 0o777).toBe(0o640)
    expect((await readdir(folder)).sort()).toEqual(['link.yaml', 'network.yaml'])
  })
})

it('does not replace a file that comes while the invitation is made', async () => {
  const file = inFolder('phone.jwt')
  const ends = network.controller.events.on('entity.changed', () => writeFileSync(file, 'of another command'))
  const { code, stderr } = await runProgram(['invite', 'phone', '--out', file], variables())
  ends()
  expect([code, stderr]).toEqual([2, expect.stringContaining(`${file}: EEXIST`)])
  expect(await readFile(file, 'utf8')).toBe('of another command')
})
