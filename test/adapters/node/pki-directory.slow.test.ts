import { X509Certificate } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { hostname, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type ControllerOptions, createController, createPkiMaterial } from 'portcullis'
import { sqliteStorage } from 'portcullis/kysely'
import { memoryStorage } from 'portcullis/memory'
import { openPkiDirectory, PkiFileError, serverCertificateFacts } from 'portcullis/node'
import { createTestController, recordingLogger } from 'portcullis/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const FILES = ['ca.pem', 'server.key', 'server.pem', 'signing.key', 'signing.pem']
const ALL_FILES = ['ca.key', ...FILES]
const request = { hosts: ['localhost', '::1'], trustDomain: 'corp.example', now: Date.UTC(2026, 0, 1) }

/** A folder for every directory of these tests; `whole` in it holds a PKI. */
let folder: string
let count = 0
const fresh = () => join(folder, `pki-${++count}`)
const open = (directory: string) => openPkiDirectory(directory, request)

/** A copy of the whole PKI, to be damaged. */
async function copy(): Promise<string> {
  const directory = fresh()
  await cp(join(folder, 'whole'), directory, { recursive: true })
  return directory
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portcullis-pki-'))
  await open(join(folder, 'whole'))
})
afterAll(() => rm(folder, { recursive: true }))

describe('openPkiDirectory', () => {
  it('creates what is missing, for the owner only, and opens it the next time', async () => {
    const directory = join(fresh(), 'deep', 'down')
    const first = await open(directory)
    expect(first.created).toBe(true)
    expect((await readdir(directory)).sort()).toEqual(ALL_FILES)
    const modeOf = async (path: string) => (await stat(path)).mode & 0o777
    expect(await modeOf(directory)).toBe(0o700)
    expect(await modeOf(join(directory, 'server.key'))).toBe(0o600)
    expect(await modeOf(join(directory, 'signing.key'))).toBe(0o600)
    expect(await modeOf(join(directory, 'ca.key'))).toBe(0o600)
    expect(await open(directory)).toEqual({ ...first, created: false })
    expect(first.caPem).toBe(await readFile(join(directory, 'ca.pem'), 'utf8'))
  })

  it('gives all of several first runs the same PKI, which one of them created', async () => {
    const directory = fresh()
    const opened = await Promise.all(Array.from({ length: 8 }, () => open(directory)))
    expect(new Set(opened.map(({ created: _, ...material }) => JSON.stringify(material))).size).toBe(1)
    expect(opened.filter(({ created }) => created)).toHaveLength(1)
    expect((await readdir(directory)).sort()).toEqual(ALL_FILES)
  })

  it('mixes nothing where one of several first runs sleeps while the others finish, and a late one left its PKI', async () => {
    const directory = fresh()
    const created = join(directory, '.created')
    await mkdir(directory, { recursive: true })
    await cp(join(folder, 'whole'), created, { recursive: true })
    const { asleep, wake } = sleepsAt(join(created, 'signing.pem'))
    const sleeper = open(directory).then((opened) => opened)
    await asleep
    const first = await open(directory)
    expect(existsSync(created)).toBe(false)
    const late = fresh()
    await open(late)
    await cp(late, created, { recursive: true })
    wake()
    expect(await sleeper).toEqual(first)
    expect(await open(directory)).toEqual(first)
    expect((await readdir(directory)).sort()).toEqual(ALL_FILES)
  })
})

/** Holds the first move of a file until it is woken. */
function sleepsAt(file: string) {
  const files = createRequire(import.meta.url)('node:fs/promises')
  const { link, rename } = files
  const asleep = Promise.withResolvers<void>()
  const woken = Promise.withResolvers<void>()
  const held = (move: typeof rename) => async (from: string, to: string) => {
    if (from === file) {
      restore()
      asleep.resolve()
      await woken.promise
    }
    return move(from, to)
  }
  const put = (moves: object) => {
    Object.assign(files, moves)
    syncBuiltinESMExports()
  }
  const restore = () => put({ link, rename })
  put({ link: held(link), rename: held(rename) })
  return { asleep: asleep.promise, wake: () => woken.resolve() }
}

describe('openPkiDirectory with defaults', () => {
  it('is a PKI for this machine, as a controller takes it: without waiting', async () => {
    const directory = fresh()
    const controller = await createController({
      storage: memoryStorage(),
      address: 'localhost:1280',
      pki: openPkiDirectory(directory),
    })
    expect(controller.caPem).toContain((await readFile(join(directory, 'ca.pem'), 'utf8')).trim())
    const server = new X509Certificate(controller.tls().cert)
    for (const name of ['localhost', hostname()]) expect(server.checkHost(name)).toBeDefined()
    for (const address of ['127.0.0.1', '::1']) expect(server.checkIP(address)).toBeDefined()
    expect(Date.parse(server.validFrom)).toBeLessThanOrEqual(Date.now())
    await controller.close()
  })
})

describe('a first run that was interrupted', () => {
  it.each([0, 1, 2, 3, 4, 5])('after %i of six files were written: the next one starts over', async (written) => {
    const directory = fresh()
    const unfinished = join(directory, '.creating-1')
    await mkdir(unfinished, { recursive: true })
    for (const name of ALL_FILES.slice(0, written)) await writeFile(join(unfinished, name), 'half of a fi')
    expect((await open(directory)).created).toBe(true)
    expect((await readdir(directory)).sort()).toEqual(ALL_FILES)
  })

  it.each([0, 1, 2, 3, 4, 5, 6])(
    'after %i of six files were put in place: the next one completes it',
    async (placed) => {
      const directory = await copy()
      const material = await open(directory)
      await mkdir(join(directory, '.created'))
      for (const name of ALL_FILES.slice(placed)) await rename(join(directory, name), join(directory, '.created', name))
      expect(await open(directory)).toEqual({ ...material, created: false })
      expect((await readdir(directory)).sort()).toEqual(ALL_FILES)
    },
  )
})

describe("the root's key", () => {
  it('may be kept elsewhere', async () => {
    const directory = await copy()
    await rm(join(directory, 'ca.key'))
    const { caKeyPem } = await open(directory)
    expect(caKeyPem).toBeUndefined()
    expect((await readdir(directory)).sort()).toEqual(FILES)
  })

  it('is refused where it is the key of another root', async () => {
    const directory = await copy()
    await cp(join(directory, 'signing.key'), join(directory, 'ca.key'))
    await expect(open(directory)).rejects.toThrow(
      `the private key in ${join(directory, 'ca.key')} matches no certificate in ${join(directory, 'ca.pem')}`,
    )
  })
})

describe('what cannot be used is an error that names it', () => {
  it.each(FILES)('%s is missing, and nothing is created in its place', async (name) => {
    const directory = await copy()
    await rm(join(directory, name))
    await expect(open(directory)).rejects.toThrow(
      new PkiFileError(`${directory} holds only a part of a PKI: ${name} missing`),
    )
    expect(existsSync(join(directory, name))).toBe(false)
  })

  it.each(FILES)('%s is a directory', async (name) => {
    const directory = await copy()
    await rm(join(directory, name))
    await mkdir(join(directory, name))
    await expect(open(directory)).rejects.toThrow(
      new PkiFileError(`cannot read ${join(directory, name)}: it is a directory`),
    )
  })

  it.each(FILES)('%s holds something else', async (name) => {
    const directory = await copy()
    await chmod(join(directory, name), 0o600)
    await writeFile(join(directory, name), 'something else')
    await expect(open(directory)).rejects.toThrow(`${join(directory, name)} holds no PEM`)
  })

  it.each(['server.key', 'signing.key'])('%s is the key of another certificate', async (name) => {
    const directory = await copy()
    const another = fresh()
    await open(another)
    await cp(join(another, name), join(directory, name))
    await expect(open(directory)).rejects.toThrow(
      `the private key in ${join(directory, name)} does not match the certificate in`,
    )
  })

  it.each(['', 'below'])('the directory is a file, or is below one', async (below) => {
    const file = fresh()
    await writeFile(file, '')
    await expect(open(join(file, below))).rejects.toThrow(/^cannot use the PKI directory .* is not a directory$/)
  })
})

describe('a controller that opens its folder', () => {
  const warningsOf = async (options: Partial<ControllerOptions>) => {
    const logger = recordingLogger()
    const controller = await createController({ storage: memoryStorage(), address: ADDRESS, logger, ...options })
    const { cert } = controller.tls()
    await controller.close()
    return { cert, warnings: logger.entries.filter(({ level }) => level === 'warn') }
  }
  const ADDRESS = 'controller.example.org:1280'

  it.each([
    ['controller.example.org:1280', 'controller.example.org'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['192.0.2.7:1280', '192.0.2.7'],
  ])('has the host of its address %s in the certificate that is made for it', async (address, host) => {
    for (const own of [{}, { hosts: ['localhost'] }]) {
      const { cert, warnings } = await warningsOf({ address, pki: openPkiDirectory(fresh(), own) })
      const facts = serverCertificateFacts(cert)
      expect(facts.covers(host)).toBe(true)
      expect(facts.covers('localhost')).toBe(true)
      expect(warnings).toEqual([])
    }
  })

  it('warns where a certificate that is there is for other hosts', async () => {
    const directory = fresh()
    await open(directory)
    for (const pki of [openPkiDirectory(directory), await openPkiDirectory(directory)]) {
      const { warnings } = await warningsOf({ pki })
      expect(warnings).toMatchObject([
        {
          message: expect.stringContaining('is not for the host of the address'),
          fields: { host: 'controller.example.org' },
        },
      ])
    }
    const wildcard = await createPkiMaterial({ ...request, hosts: ['*.example.org'] })
    expect((await warningsOf({ pki: wildcard })).warnings).toEqual([])
    expect((await warningsOf({ pki: wildcard, address: 'a.b.example.org:1280' })).warnings).toHaveLength(1)
  })

  it('begins with nothing before somebody waits for it, and is a promise then', async () => {
    const directory = fresh()
    const opening = openPkiDirectory(directory)
    expect(existsSync(directory)).toBe(false)
    expect(await opening).toBe(await opening.finally(() => undefined))
    expect(existsSync(directory)).toBe(true)
    const file = join(directory, 'ca.pem')
    await expect(openPkiDirectory(file).catch((error) => Promise.reject(error))).rejects.toThrow(PkiFileError)
  })

  it('warns of a storage that outlives the certificates, and of one whose devices know others', async () => {
    const file = join(fresh(), 'network.sqlite')
    await mkdir(dirname(file))
    const first = await warningsOf({ storage: await sqliteStorage(file) })
    expect(first.warnings).toMatchObject([{ message: expect.stringContaining('locked out from the next start on') }])
    expect((await warningsOf({})).warnings).toEqual([])
    expect((await warningsOf({ storage: await sqliteStorage(':memory:') })).warnings).toEqual([])

    const net = await createTestController({
      storage: await sqliteStorage(file),
      address: ADDRESS,
      pki: open(join(folder, 'whole')),
    })
    const { cert } = await net.enroll('laptop')
    await net.close()
    const lockedOut = [{ message: expect.stringContaining('an authority that is not in `pki`') }]
    expect((await warningsOf({ storage: await sqliteStorage(file) })).warnings).toMatchObject(lockedOut)
    const other = createPkiMaterial({ ...request, hosts: ['controller.example.org'] })
    expect((await warningsOf({ storage: await sqliteStorage(file), pki: other })).warnings).toMatchObject(lockedOut)
    const same = await openPkiDirectory(join(folder, 'whole'))
    // As long as the bundle holds it, a former authority locks nobody out.
    const both = { ...(await other), caPem: (await other).caPem + same.caPem + same.signingCertPem }
    expect((await warningsOf({ storage: await sqliteStorage(file), pki: both })).warnings).toEqual([])
    expect(cert).toContain('BEGIN CERTIFICATE')
  })
})
