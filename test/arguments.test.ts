import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createController, createPkiMaterial, openOperator } from 'portcullis'
import { createClient, createManagementClient, createPortcullisClient } from 'portcullis/client'
import { withExplorer } from 'portcullis/explorer'
import { expressHandler } from 'portcullis/express'
import { openControlListener } from 'portcullis/fabric'
import { fastifyController } from 'portcullis/fastify'
import { acmeCertificates, gateway } from 'portcullis/gateway'
import { honoHandler } from 'portcullis/hono'
import {
  kyselyStorage,
  migrate,
  postgresDialect,
  postgresStorage,
  restoreSqlite,
  snapshotSqlite,
  sqliteDialect,
  sqliteStorage,
} from 'portcullis/kysely'
import { memoryStorage } from 'portcullis/memory'
import { applyModel, planModel } from 'portcullis/model'
import {
  createListener,
  httpsFetch,
  openPkiDirectory,
  pkiFilesIn,
  readPkiFiles,
  readServerFiles,
  serve,
  toRequest,
} from 'portcullis/node'
import { openTelemetry } from 'portcullis/opentelemetry'
import { postureResponses } from 'portcullis/policy'
import { storageContract } from 'portcullis/storage/contract'
import { assertAllows, assertDenies, createTestController, fakeClock, liveClock } from 'portcullis/testing'
import { afterAll, describe, expect, it } from 'vitest'

/** Arguments of a program without types. */
function untyped<T>(value: unknown): T {
  return value as T
}

const folder = mkdtempSync(join(tmpdir(), 'portcullis-arguments-'))
afterAll(() => rmSync(folder, { recursive: true }))
const controller = { fetch: async () => new Response(), answerHeaders: {}, tls: () => ({ cert: '', key: '' }) }
const baseUrl = 'https://controller.test:1280'
const ACME = {
  ...{ hosts: '*.apps.example', services: () => [], directory: 'https://ca.example/', folder: '/nowhere' },
  termsOfServiceAgreed: true,
}

/** Calls with an argument that the compiler refuses, and what they say of it. */
const WRONG: readonly (readonly [string, (wrong: <T>(value: unknown) => T) => unknown, string])[] = [
  [
    'createController',
    (wrong) => createController(wrong({ adress: 'a:1' })),
    'adress is no option of createController; address',
  ],
  [
    'createPkiMaterial',
    (wrong) => createPkiMaterial(wrong({ host: [] })),
    'host is no option of createPkiMaterial; hosts is one',
  ],
  ['createPkiMaterial', (wrong) => createPkiMaterial(wrong(undefined)), 'createPkiMaterial takes an object with hosts'],
  [
    'openOperator',
    (wrong) => openOperator(wrong({ storge: 1 })),
    'storge is no option of openOperator; storage is one',
  ],
  ['openOperator', (wrong) => openOperator(wrong({})), 'openOperator: storage is needed'],
  [
    'createClient',
    (wrong) => createClient(wrong({ baseURL: baseUrl })),
    'baseURL is no option of the client; baseUrl is one',
  ],
  ['createManagementClient', (wrong) => createManagementClient(wrong({})), 'the client: baseUrl is needed'],
  [
    'createPortcullisClient',
    () => createPortcullisClient({ baseUrl: 'controller' }),
    'baseUrl is no URL such as https://',
  ],
  [
    'a call',
    (wrong) => createClient({ baseUrl }).call('GET /version', wrong({ quey: {} })),
    'quey is no option of GET /version; query is one',
  ],
  [
    'a call',
    (wrong) => createClient({ baseUrl }).call('GET /version', { signal: wrong({}) }),
    'signal takes an AbortSignal',
  ],
  ['withExplorer', (wrong) => withExplorer(wrong(undefined)), 'withExplorer: controller is needed'],
  ['expressHandler', (wrong) => expressHandler(wrong(undefined)), 'expressHandler: controller is needed: a controller'],
  ['expressHandler', (wrong) => expressHandler(wrong(controller.fetch)), 'controller takes a controller, not function'],
  ['expressHandler', (wrong) => expressHandler(controller, wrong({ maxBodyByte: 1 })), 'maxBodyByte is no option'],
  ['fastifyController', (wrong) => fastifyController(wrong({}), wrong({})), 'fastifyController: controller is needed'],
  [
    'gateway',
    (wrong) => gateway(wrong(controller), wrong({ hosts: 'apps.example' })),
    'hosts takes a name whose first label is *',
  ],
  ['gateway', (wrong) => gateway(wrong(controller), wrong({ hosts: '*.apps.example' })), 'gateway: router is needed'],
  [
    'acmeCertificates',
    (wrong) => acmeCertificates(wrong({ ...ACME, termsOfServiceAgreed: false })),
    'acmeCertificates: termsOfServiceAgreed takes true',
  ],
  [
    'acmeCertificates',
    (wrong) => acmeCertificates(wrong({ ...ACME, directory: 'http://ca.example/' })),
    "directory takes an address that begins with https://, not 'http://ca.example/'",
  ],
  [
    'acmeCertificates',
    (wrong) => acmeCertificates(wrong({ ...ACME, contact: 'mailto:a@b.example,c@d.example' })),
    'contact takes one mail address',
  ],
  ['honoHandler', (wrong) => honoHandler(wrong(undefined)), 'honoHandler: controller is needed: a controller'],
  [
    'honoHandler',
    (wrong) => honoHandler(controller, wrong({ connectioninfo: 1 })),
    'no option of honoHandler; connectionInfo is one',
  ],
  [
    'openControlListener',
    (wrong) => openControlListener(wrong(controller), { addresses: [] }),
    'controller.openFabric is missing',
  ],
  ['kyselyStorage', (wrong) => kyselyStorage(wrong({})), 'kyselyStorage: dialect is needed: a Kysely dialect'],
  ['kyselyStorage', (wrong) => kyselyStorage(wrong(undefined)), 'kyselyStorage takes an object with a dialect'],
  ['kyselyStorage', (wrong) => kyselyStorage({ dialect: wrong('sqlite') }), 'dialect takes a Kysely dialect'],
  [
    'migrate',
    (wrong) => migrate(wrong({ dialect: () => undefined, dryrun: true })),
    'dryrun is no option of migrate; dryRun is one',
  ],
  [
    'postgresStorage',
    (wrong) => postgresStorage(wrong('postgres://keeper:geheim@db/other')),
    "postgresStorage takes an object: { connection: 'postgres://",
  ],
  [
    'postgresStorage',
    (wrong) => postgresStorage(wrong({ connectionString: 'postgres://db/other' })),
    'connectionString is no option of postgresStorage',
  ],
  ['postgresStorage', (wrong) => postgresStorage(wrong({})), "postgresStorage: connection is needed: 'postgres://"],
  [
    'postgresStorage',
    (wrong) => postgresStorage(wrong(undefined)),
    "postgresStorage takes an object: { connection: 'postgres://",
  ],
  ['postgresStorage', () => postgresStorage({ connection: 'nonsense' }), 'connection is no postgres:// URL'],
  [
    'postgresDialect',
    (wrong) => postgresDialect(wrong({ conection: 'postgres://db' })),
    'conection is no option of postgresDialect; connection is one',
  ],
  ['sqliteStorage', (wrong) => sqliteStorage(wrong(undefined)), 'sqliteStorage: file is needed: the name of a file'],
  [
    'sqliteStorage',
    () => sqliteStorage(join(folder, 'no/dir/x.sqlite')),
    `in a folder that is not there: ${join(folder, 'no/dir')}`,
  ],
  ['sqliteStorage', () => sqliteStorage(folder), `${folder} is a folder`],
  ['sqliteStorage', () => sqliteStorage('sqlite:x.sqlite'), "without sqlite: 'x.sqlite'"],
  [
    'sqliteStorage',
    (wrong) => sqliteStorage(':memory:', wrong({ cacheMib: 1 })),
    'cacheMib is no option of sqliteStorage; cacheMiB is one',
  ],
  [
    'sqliteDialect',
    (wrong) => sqliteDialect(':memory:', wrong({ synchronous: 'fully' })),
    "synchronous takes 'full' or 'normal', not 'fully'",
  ],
  [
    'snapshotSqlite',
    (wrong) => snapshotSqlite('a', 'b', wrong({ overwite: true })),
    'overwite is no option of snapshotSqlite; overwrite is one',
  ],
  ['restoreSqlite', (wrong) => restoreSqlite('a', wrong(undefined)), 'restoreSqlite: file is needed'],
  [
    'planModel',
    (wrong) => planModel(wrong({}), wrong({}), wrong({ prun: true })),
    'prun is no option of planModel; prune is one',
  ],
  [
    'applyModel',
    (wrong) => applyModel(wrong({}), wrong({}), wrong({ prun: true })),
    'prun is no option of applyModel; prune is one',
  ],
  [
    'createListener',
    (wrong) => createListener(wrong(controller)),
    'createListener: fetch takes the fetch of a controller',
  ],
  [
    'createListener',
    (wrong) => createListener(controller.fetch, wrong({ onerror: 1 })),
    'onerror is no option of createListener; onError is one',
  ],
  ['httpsFetch', (wrong) => httpsFetch(wrong({ cA: 'x' })), 'cA is no option of httpsFetch; ca is one'],
  ['httpsFetch', () => httpsFetch({ ca: './ca.pem' }), 'httpsFetch: ca takes PEM, not a path'],
  [
    'openPkiDirectory',
    (wrong) => openPkiDirectory(join(folder, 'pki'), wrong({ host: [] })),
    'host is no option of openPkiDirectory; hosts is one',
  ],
  ['openPkiDirectory', (wrong) => openPkiDirectory(wrong(undefined)), 'openPkiDirectory: directory is needed'],
  ['pkiFilesIn', (wrong) => pkiFilesIn(wrong(undefined)), 'pkiFilesIn: directory is needed'],
  ['readPkiFiles', (wrong) => readPkiFiles(wrong({ ca: 'ca.pem' })), 'ca is no option of readPkiFiles'],
  ['readServerFiles', (wrong) => readServerFiles(wrong({})), 'readServerFiles: serverCertPem is needed'],
  ['serve', (wrong) => serve(controller, wrong({ prt: 1 })), 'prt is no option of serve; port is one'],
  [
    'serve',
    (wrong) => serve(wrong({ port: 1 }), wrong(undefined)),
    'controller takes a controller: controller.fetch is missing',
  ],
  ['serve', (wrong) => serve(controller, wrong({})), 'serve: port is needed'],
  [
    'serve',
    (wrong) => serve(controller, { port: 0, fabric: true, router: wrong({ advertise: 'r1.example.org' }) }),
    "serve: router takes advertise as { host: 'router.example.org', port: 3022 }",
  ],
  [
    'serve',
    (wrong) => serve(controller, { port: 0, fabric: wrong({ listen: '0.0.0.0:6262' }) }),
    "serve: fabric takes listen as { host: '0.0.0.0', port: 3022 }",
  ],
  ['toRequest', (wrong) => toRequest(wrong({}), wrong({ maxBodyByte: 1 })), 'maxBodyByte is no option of toRequest'],
  [
    'openTelemetry',
    (wrong) => openTelemetry(wrong({ joinTrace: true })),
    'joinTrace is no option of openTelemetry; joinTraces is one',
  ],
  [
    'postureResponses',
    (wrong) => postureResponses(wrong({ domian: 'x' })),
    'domian is no option of posture; domain is one',
  ],
  [
    'storageContract',
    (wrong) => storageContract(wrong(memoryStorage()), {}),
    'makeStorage takes a function, not object',
  ],
  [
    'createTestController',
    (wrong) => createTestController(wrong({ clock: 'lively' })),
    "clock takes 'turned' or 'live', not 'lively'",
  ],
  [
    'createTestController',
    (wrong) => createTestController(wrong({ sed: 1 })),
    'sed is no option of createTestController; seed is one',
  ],
  ['fakeClock', (wrong) => fakeClock(wrong('2026')), "fakeClock: now takes a number, not '2026'"],
  ['liveClock', () => liveClock(Number.NaN), 'liveClock: now takes a number of milliseconds, not NaN'],
  [
    'elapse',
    async () => {
      await using net = await createTestController()
      await net.elapse(Number.NaN)
    },
    'elapse: milliseconds takes 0 or more, not NaN',
  ],
]

describe('an argument that the compiler would have refused is told by its name', () => {
  it.each(WRONG)('%s: %#', async (_name, call, message) => {
    const failure = await (async () => call(untyped))().then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(failure).toBeInstanceOf(TypeError)
    expect(String(failure)).toContain(message)
    expect(String(failure)).not.toContain('geheim')
  })

  it('in what a test controller offers', async () => {
    await using net = await createTestController()
    await net.enroll('laptop')
    const { faults } = net
    expect(() => faults.next(untyped({ status: 500 }))).toThrow('faults.next: status takes 429 or 503, not 500')
    expect(() => faults.next(untyped({ delay: 5 }))).toThrow(
      'faults.next takes an object with one of status, delayMs, drop, storage, not delay',
    )
    expect(() => faults.every(2, untyped({ status: 503, retryAfter: 1 }))).toThrow('retryAfterMs is one')
    await expect(net.posture('laptop').report(untyped({ domian: 'x' }))).rejects.toThrow('domain is one')
    await expect(net.listen(untyped({ prt: 1 }))).rejects.toThrow('prt is no option of listen; port is one')
    const wait = net.events.wait('posture.changed', untyped({ within: 5 }))
    await expect(wait).rejects.toThrow('within is no option of events.wait')
    const asked = assertAllows(net, 'laptop', 'Dial', 'wiki', untyped({ postur: {} }))
    await expect(asked).rejects.toThrow('postur is no option of access; posture is one')
    await expect(assertDenies(net, 'laptop', untyped('dial'), 'wiki')).rejects.toThrow("type takes 'Dial' or 'Bind'")
  })
})
