import { decodeJwt } from 'jose'
import {
  type Controller,
  type ControllerOptions,
  createController,
  createPkiMaterial,
  type PkiMaterial,
} from 'portcullis'
import { createManagementClient } from 'portcullis/client'
import { openControlListener } from 'portcullis/fabric'
import { sqliteStorage } from 'portcullis/kysely'
import { memoryStorage } from 'portcullis/memory'
import { httpsFetch, serve } from 'portcullis/node'
import { createTestController, fakeClock, fakeScheduler, recordingLogger } from 'portcullis/testing'
import { beforeAll, describe, expect, it } from 'vitest'

const admin = { username: 'admin', password: 'a-long-password' }
const hosts = ['controller.example.org']
let pki: PkiMaterial

beforeAll(async () => {
  pki = await createPkiMaterial({ hosts, trustDomain: 'corp.example', now: Date.now() })
})

const create = (options: Partial<ControllerOptions>) =>
  createController({ storage: memoryStorage(), address: 'controller.example.org:1280', pki, ...options })

/** Starts a repair of the store, as an administrator does. */
async function startRepair({ fetch }: Controller): Promise<void> {
  const client = createManagementClient({ baseUrl: 'https://controller.example.org:1280', fetch })
  const { data } = await client.call('POST /authenticate', { query: { method: 'password' }, body: admin })
  await client.withToken(data.token).call('POST /database/fix-data-integrity')
}

/** Arguments that a program without types may pass. */
const untyped = <T>(value: unknown) => value as T

describe('the address of a controller', () => {
  it.each(['controller.example.org:1280', 'localhost:0', '127.0.0.1:443', '[::1]:1280'])(
    'may be %s',
    async (address) => {
      await (await create({ address })).close()
    },
  )

  it.each([
    'controller.example.org',
    'https://controller.example.org:1280',
    'controller.example.org:1280/edge',
    'somebody@controller.example.org:1280',
    'controller.example.org:99999',
    '::1:1280',
    ':1280',
    'two words:1280',
    '',
    untyped<string>(undefined),
  ])('cannot be %s', async (address) => {
    await expect(create({ address })).rejects.toThrow(
      `address takes host:port, such as controller.example.org:1280 or [::1]:1280: not '${address}'`,
    )
  })
})

it.each(['caPem', 'signingCertPem', 'signingKeyPem', 'serverCertPem', 'serverKeyPem'] as const)(
  'a PKI without %s is refused by its name',
  async (part) => {
    const { [part]: _, ...rest } = pki
    await expect(create({ pki: untyped(rest) })).rejects.toThrow(`${part}: is missing`)
  },
)

it('certificates read as bytes are refused', async () => {
  await expect(create({ pki: untyped({ ...pki, caPem: Buffer.from(pki.caPem) }) })).rejects.toThrow(
    'caPem: is not text',
  )
})

it.each([
  [{ ...admin, username: 'abc' }, 'admin.username must have 4 to 100 characters, it has 3'],
  [{ ...admin, username: 'a'.repeat(101) }, 'admin.username must have 4 to 100 characters, it has 101'],
  [{ ...admin, password: 'abcd' }, 'admin.password must have 5 to 100 characters, it has 4'],
  [untyped<typeof admin>({ username: 'admin' }), 'admin.password must have 5 to 100 characters, it has 0'],
])('an admin who could never log in is refused (%#)', async (credentials, message) => {
  await expect(create({ admin: credentials })).rejects.toThrow(message)
})

it.each([
  [{ apiSessionTimeoutMs: Number.NaN }, 'apiSessionTimeoutMs takes a whole number from 1 to 3153600000000: not NaN'],
  [{ apiSessionTimeoutMs: 0 }, 'apiSessionTimeoutMs takes a whole number from 1 to 3153600000000: not 0'],
  [
    { enrollmentDurationMs: Infinity },
    'enrollmentDurationMs takes a whole number from 1 to 3153600000000: not Infinity',
  ],
  [{ recoveryCodeLength: 5 }, 'recoveryCodeLength takes a whole number from 6 to 100: not 5'],
])('a number out of range is refused: %o', async (option, message) => {
  await expect(create(option)).rejects.toThrow(message)
})

it('a secrets key of another length is refused', async () => {
  await expect(create({ secretsKey: new Uint8Array(16) })).rejects.toThrow('secretsKey: has 16 bytes instead of 32')
})

describe('an address that is known later', () => {
  it('stands in tokens and in OpenID issuers from then on', async () => {
    const controller = await createTestController()
    const admin = await controller.asAdmin()
    controller.changeAddress('gate.example:8443')
    const body = { name: 'laptop', type: 'Device' as const, isAdmin: false, enrollment: { ott: true } }
    const { id } = (await admin.call('POST /identities', { body })).data
    const { enrollment } = (await admin.call('GET /identities/{id}', { params: { id } })).data
    expect(decodeJwt(enrollment.ott?.jwt ?? '').iss).toBe('https://gate.example:8443')
    const discovery = '/oidc/.well-known/openid-configuration'
    const { issuer } = JSON.parse(
      await controller.fetch(new Request(`https://gate.example:8443${discovery}`)).then((response) => response.text()),
    )
    expect(issuer).toBe('https://gate.example:8443/oidc')
    expect((await controller.fetch(new Request(`https://controller.test:1280${discovery}`))).status).toBe(404)
    expect((await controller.client().call('GET /protocols')).data).toEqual({ https: { address: 'gate.example:8443' } })
  })

  it('is refused when it is none, and the one of before stays', async () => {
    const controller = await createTestController()
    expect(() => controller.changeAddress('gate.example')).toThrow('address')
    expect((await controller.client().call('GET /protocols')).data).toEqual({
      https: { address: 'controller.test:1280' },
    })
  })
})

describe('options that only the compiler knows are told by name to who has none', () => {
  it.each<[unknown, string]>([
    [undefined, 'createController takes an object with at least storage and address'],
    [{ address: 'localhost:1280' }, 'storage is needed: a storage, such as memoryStorage() of portcullis/memory'],
    [{ storage: null, address: 'localhost:1280' }, 'storage takes a storage, such as memoryStorage()'],
    [{ storage: Promise.resolve(), address: 'localhost:1280' }, 'storage.read is missing'],
  ])('%#', async (options, message) => {
    await expect(createController(untyped(options))).rejects.toThrow(message)
  })

  it.each<[object, string]>([
    [{ sotrage: 1 }, 'sotrage is no option of createController; storage is one'],
    [{ frobnicate: true }, 'frobnicate is no option of createController'],
    [{ pki: './pki' }, "pki takes PEM texts as { caPem, signingCertPem, … }, or openPkiDirectory('FOLDER')"],
    [{ compat: 'ziti' }, "compat takes 'openziti', not 'ziti'"],
    [{ compat: true }, "compat takes 'openziti', not true"],
    [{ allowWeakPasswords: 'no' }, "allowWeakPasswords takes a boolean, not 'no'"],
    [{ apiSessionTimeoutMs: '5' }, "apiSessionTimeoutMs takes a number, not '5'"],
    [{ secretsKey: 'a'.repeat(32) }, 'secretsKey takes a Uint8Array of 32 bytes, not string'],
    [{ authorize: {} }, 'authorize takes a function, not object'],
    [{ logger: { info: () => undefined } }, 'logger.warn is missing'],
    [{ clock: Date }, 'clock takes an object'],
    [{ oidc: true }, 'oidc takes an object, not true'],
    [{ oidc: { issuer: 'https://a/oidc' } }, 'oidc.issuer is not there: oidc has issuers, ports'],
    [{ rateLimits: { anonymus: false } }, 'rateLimits.anonymus is not there'],
    [{ cors: { origin: '*' } }, 'cors.origin is not there'],
    [{ limits: { tag: 1 } }, 'limits.tag is not there'],
    [{ admin: { ...admin, email: 'x' } }, 'admin.email is not there'],
  ])('%o', async (option, message) => {
    await expect(create(untyped(option))).rejects.toThrow(message)
  })

  it('echoes no secret', async () => {
    const password = 'a-secret-that-is-longer-than-forty-characters'
    await expect(create({ admin: untyped(password) })).rejects.toThrow('admin takes an object, not string')
  })

  it('takes a PKI that is still being opened', async () => {
    const controller = await create({ pki: Promise.resolve(pki) })
    expect(controller.caPem).toContain(pki.caPem.trim())
    await controller.close()
  })
})

describe('a controller that was closed', () => {
  it('is not served', async () => {
    const controller = await create({})
    await controller.close()
    await expect(serve(controller, { port: 0 })).rejects.toThrow('the controller is closed')
  })

  const VERSION_PATHS = ['/edge/client/v1/version', '/edge/management/v1/identities', '/oidc/keys', '/nowhere']

  it.each(VERSION_PATHS)('answers 503 at %s, with the headers of every answer', async (path) => {
    const controller = await create({})
    await controller.close()
    const answer = await controller.fetch(new Request(`https://controller.example.org:1280${path}`))
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5'])
    expect(answer.headers.get('ziti-instance-id')).toBe(controller.answerHeaders['ziti-instance-id'] ?? null)
  })

  it('is closed with its server at the end of a block that uses them', async () => {
    const used = async (): Promise<[Controller, string]> => {
      await using controller = await create({})
      await using server = await serve(controller, { port: 0 })
      return [controller, server.url]
    }
    const [controller, url] = await used()
    const answer = await controller.fetch(new Request('https://controller.example.org:1280/edge/client/v1/version'))
    expect(answer.status).toBe(503)
    await expect(httpsFetch({ ca: controller.caPem })(new Request(url))).rejects.toThrow()
  })

  it('answers 503 to what was under way', async () => {
    let goOn = () => {}
    const held = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const verify = async () => {
      await held
      return true
    }
    const passwordHasher = { hash: async () => 'hash', verify, needsRehash: () => false }
    const controller = await create({ passwordHasher, admin })
    const login = new Request('https://controller.example.org:1280/edge/client/v1/authenticate?method=password', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(admin),
    })
    const answer = controller.fetch(login)
    await new Promise((resolve) => setTimeout(resolve, 20))
    await controller.close()
    goOn()
    expect((await answer).status).toBe(503)
    expect(await (await answer).json()).toMatchObject({
      error: { code: 'TIMEOUT', cause: { message: 'the controller is closed' } },
    })
  })

  it.each([
    ['memory', () => ({ ...memoryStorage(), isVolatile: false })],
    ['SQLite', () => sqliteStorage(':memory:')],
  ])('and one whose storage was closed over %s, logs no error of what it does by itself', async (_, open) => {
    const clock = fakeClock()
    const scheduler = fakeScheduler(clock)
    const logger = recordingLogger()
    const storage = await open()
    const controller = await create({ storage, clock, scheduler, logger, admin })
    const plane = await openControlListener(controller, { addresses: ['tls:controller.example.org:6262'] })
    await controller.events.subscribe('host', () => undefined)
    await startRepair(controller)
    await storage.close()
    await scheduler.runUntil(clock.now() + 10 * 60_000)
    await plane.close()
    await controller.close()
    expect(logger.entries.filter(({ level }) => level === 'error')).toEqual([])
  })
})
