import { apiDocuments } from 'portcullis'
import { TEST_ADMIN } from 'portcullis/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { adminOf, CLIENT, create, MANAGEMENT } from '../contract/http/foreign-client.ts'
import type { RawRequest } from '../contract/http/mount.ts'
import { expectDocumented } from '../documents/documented-answers.ts'
import { FABRIC, PORTCULLIS } from '../support/api-rows.ts'
import { asJson, type Choices, choices, hostileText, valueBy } from '../support/generated-requests.ts'
import { mount } from '../support/mount.ts'
import { authPolicy, login, person } from '../support/people.ts'

/** How many requests are sent; the long form of `npm run test:fuzz` sends 100,000. */
const REQUESTS = Number(process.env.PORTCULLIS_FUZZ_REQUESTS ?? 3_000)
const SEED = Number(process.env.PORTCULLIS_FUZZ_SEED ?? 1)
/** A controller gets this many requests, then a fresh one takes its place: stores that only grow make slow tests. */
const PER_CONTROLLER = 2_500
/** Milliseconds of work that no request may cost: a busy machine does not count against it. */
const MAX_WORK_MS = 1_000
/** The same where RSA keys are made, outside of the event loop: how many candidates are tried is chance. */
const MAX_KEY_WORK_MS = 20_000

const DOCUMENTS = await apiDocuments('v0')
const OPERATIONS = [
  ...operationsOf(CLIENT, DOCUMENTS.client),
  ...operationsOf(MANAGEMENT, DOCUMENTS.management),
  ...operationsOf(FABRIC, DOCUMENTS.fabric),
  ...operationsOf(PORTCULLIS, DOCUMENTS.portcullis),
]
/** Operations that may answer 501: copies of a storage that makes none. */
const NOT_IMPLEMENTED = /\/database\/snapshot/

interface FuzzedOperation {
  readonly document: Readonly<Record<string, unknown>>
  readonly base: string
  readonly method: string
  readonly path: string
  readonly operation: Readonly<Record<string, unknown>>
}

function operationsOf(base: string, document: Readonly<Record<string, unknown>>): readonly FuzzedOperation[] {
  return Object.entries(asJson(document.paths)).flatMap(([path, methods]) =>
    Object.entries(asJson(methods)).map(([method, operation]) => ({
      document,
      base,
      method: method.toUpperCase(),
      path,
      operation: asJson(operation),
    })),
  )
}

const rejections: unknown[] = []
const recordRejection = (reason: unknown) => void rejections.push(reason)
beforeAll(() => void process.on('unhandledRejection', recordRejection))
afterAll(() => void process.off('unhandledRejection', recordRejection))

it(
  `answers ${REQUESTS} generated requests (seed ${SEED}) without a failure of its own, each by less than ${MAX_WORK_MS} ms of work`,
  async () => {
    const statuses = new Map<number, number>()
    for (let sent = 0; sent < REQUESTS; sent += PER_CONTROLLER) {
      const count = Math.min(PER_CONTROLLER, REQUESTS - sent)
      await fuzz(choices(SEED + sent), count, statuses)
    }
    expect(rejections).toEqual([])
    // Generated requests that nothing accepts would prove little.
    const accepted = (statuses.get(200) ?? 0) + (statuses.get(201) ?? 0)
    expect(accepted / REQUESTS, JSON.stringify([...statuses])).toBeGreaterThan(0.15)
    if (process.env.PORTCULLIS_FUZZ_REQUESTS !== undefined) process.stdout.write(`${JSON.stringify([...statuses])}\n`)
  },
  REQUESTS * 20 + 60_000,
)

async function fuzz(choose: Choices, count: number, statuses: Map<number, number>): Promise<void> {
  const mounted = await mount()
  const admin = await adminOf(mounted)
  await person(mounted, admin, 'alice')
  const tokens: string[] = []
  const renew = async () => {
    const answers = [await login(mounted), await login(mounted, { username: 'alice', password: 'Correct-Horse-1' })]
    tokens.splice(0, tokens.length, ...answers.map(({ body }) => body?.data?.token ?? ''))
  }
  const words = await populate(admin)
  await renew()
  for (let index = 0; index < count; index += 1) {
    if (index % 50 === 49) {
      await renew()
      mounted.clock.advance(61_000)
    }
    const { fuzzed, path, request, described } = requestOf(choose, words, tokens)
    const begun = process.cpuUsage()
    const response = await mounted.fetch(path, request)
    const text = await response.text()
    const { user, system } = process.cpuUsage(begun)
    const told = `${described} -> ${response.status} ${text.slice(0, 300)}`
    const isDeclared = response.status === 501 && NOT_IMPLEMENTED.test(path)
    if (response.status >= 500 && !isDeclared) expect.fail(told)
    const most = path.includes('/pki/rotations') ? MAX_KEY_WORK_MS : MAX_WORK_MS
    expect((user + system) / 1000, told).toBeLessThan(most)
    // A hostile path may be that of another operation.
    if (response.status !== 405) expectDocumented(fuzzed.document, fuzzed.operation, response.status, text, told)
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
    const id = response.status === 201 ? /"id":"([^"]+)"/.exec(text)?.[1] : undefined
    if (id !== undefined) words[choose.below(words.length)] = id
  }
}

/** A few entities, and their ids: what generated requests refer to. */
async function populate(admin: Awaited<ReturnType<typeof adminOf>>): Promise<string[]> {
  const all = { semantic: 'AnyOf', identityRoles: ['#all'] }
  const bodies: readonly (readonly [string, object])[] = [
    ['/services', { name: 'web', encryptionRequired: true }],
    ['/edge-routers', { name: 'router' }],
    ['/identities', { name: 'device', type: 'Device', isAdmin: false, enrollment: { ott: true } }],
    ['/service-policies', { name: 'dial', type: 'Dial', serviceRoles: ['#all'], ...all }],
    ['/posture-checks', { name: 'check', typeId: 'MFA' }],
    ['/config-types', { name: 'type', schema: {} }],
    ['/auth-policies', authPolicy('policy')],
    ['/transit-routers', { name: 'transit' }],
  ]
  const ids: string[] = []
  for (const [path, body] of bodies) ids.push(await create(admin, path, body))
  return [...ids, 'default', 'unknown', 'name', TEST_ADMIN.username]
}

function requestOf(choose: Choices, words: readonly string[], tokens: readonly string[]) {
  const fuzzed = pick(choose, OPERATIONS)
  const { base, method, path: template, operation } = fuzzed
  const mischief = choose.of([0, 0, 0.05, 0.3])
  const segment = () => (choose.chance(mischief) ? hostileText(choose) : pick(choose, words))
  const path = template.replace(/\{\w+\}/g, () => encodeURIComponent(segment().toWellFormed()))
  const query = queryOf(choose, operation, words, mischief)
  // A web Request of GET has no body, though one operation describes it.
  const body = method === 'GET' ? undefined : bodyOf(choose, operation, words, mischief)
  const token = choose.chance(0.9) ? (choose.chance(0.85) ? tokens[0] : tokens[1]) : hostileToken(choose)
  const headers = {
    ...(body !== undefined && { 'content-type': choose.chance(mischief) ? 'text/plain' : 'application/json' }),
    ...(token && { 'zt-session': token }),
    ...(choose.chance(mischief) && {
      accept: choose.of(['*/*', 'text/plain', 'application/json;q=0', ',;=', 'a/b/c']),
    }),
  }
  const request: RawRequest = { method, headers, ...(body === undefined ? {} : { body }) }
  const whole = `${base}${choose.chance(mischief) ? '//' : ''}${path}${query}`
  return { fuzzed, path: whole, request, described: `${method} ${whole} ${body?.slice(0, 2_000) ?? ''}` }
}

function hostileToken(choose: Choices): string {
  return hostileText(choose).replace(/[^\x20-\x7e]/g, '?')
}

const FILTERS = [
  'true',
  'name contains "a" and not isSystem = true',
  'id in ["a", "b"] or name = null sort by name desc skip 1 limit 3',
  'anyOf(roleAttributes) = "a"',
  'count(anyOf(roleAttributes)) > 1',
  'isEmpty(tags.a)',
  'createdAt > datetime(2020-01-01T00:00:00Z)',
  'createdAt between datetime(2020-01-01T00:00:00Z) and datetime(2030-01-01T00:00:00Z)',
  'not (((name != "x")))',
  'limit none',
  'name = ',
  '(((((',
  'tags.__proto__ = 1',
  'name icontains "%_\\"',
  'online or not connected sort by online desc',
  'service.name = "web" or router.name contains "r" sort by service.name',
  'anyOf(identities) contains "0" and count(services) >= 0',
  'isEmpty(from identities where id = "name")',
  'primary.updb.maxAttempts between 0 and 5 sort by primary.cert.allowed, secondary.requireTotp desc',
  'ctrlChanListeners.tls != null',
] as const

function queryOf(
  choose: Choices,
  operation: Readonly<Record<string, unknown>>,
  words: readonly string[],
  mischief: number,
) {
  const parameters = Array.isArray(operation.parameters) ? operation.parameters.map(asJson) : []
  const chosen = parameters.filter(({ in: place, required }) => place === 'query' && (required || choose.chance(0.3)))
  const query = new URLSearchParams()
  for (const { name, schema } of chosen) {
    const isFilter = name === 'filter' && !choose.chance(mischief)
    const value = isFilter ? choose.of(FILTERS) : valueBy(asJson(schema), choose, words, mischief)
    for (const one of Array.isArray(value) ? value : [value]) {
      query.append(String(name), typeof one === 'string' ? one.toWellFormed() : JSON.stringify(one))
    }
  }
  return query.size === 0 ? '' : `?${query}`
}

function bodyOf(
  choose: Choices,
  operation: Readonly<Record<string, unknown>>,
  words: readonly string[],
  mischief: number,
) {
  const { schema } = asJson(asJson(asJson(operation.requestBody).content)['application/json'])
  if (schema === undefined) return undefined
  if (choose.chance(mischief / 5))
    return choose.of(['', '{', 'null', '[]', '"text"', '[[[[', '{"__proto__":{"a":1}}', '1e999'])
  return JSON.stringify(valueBy(asJson(schema), choose, words, mischief))
}

function pick<T>(choose: Choices, values: readonly T[]): T {
  const value = values[choose.below(values.length)]
  if (value === undefined) throw new Error('nothing to choose from')
  return value
}
