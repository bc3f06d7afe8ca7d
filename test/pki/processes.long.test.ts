import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'node:tls'
import { sqliteStorage } from 'portcullis/kysely'
import { openPkiDirectory } from 'portcullis/node'
import { createTestController } from 'portcullis/testing'
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { createSigningRequest } from '../../adapters/network/enrollment/created-requests.ts'
import { endAll, portcullis, portIn } from '../adapters/cli/cli-process.ts'
import { httpsClient } from '../support/https-fetch.ts'
import { bearing, claimsOf, openIdTokens, refresh, tokensIn } from '../support/openid.ts'
import { createDatabase } from '../support/postgres.ts'

const ADMIN = { username: 'keeper', password: 'a-secret-of-mine' } as const
const HOST = 'controller.test:1280'
const JSON_BODY = { 'content-type': 'application/json', host: HOST }
/** Devices that are asked to renew; 200 are asked in one write. */
const DEVICES = 500
const MINUTE = 60_000

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portcullis-pki-processes-'))
})
afterAll(async () => {
  endAll()
  await rm(folder, { recursive: true, maxRetries: 10 })
})

/** A process that serves a storage. */
async function served(storage: string) {
  const variables = { PORTCULLIS_ADMIN_USERNAME: ADMIN.username, PORTCULLIS_ADMIN_PASSWORD: ADMIN.password }
  const args = ['serve', '--listen', '127.0.0.1:0', '--advertise', HOST, '--pki', 'pki', '--storage', storage]
  const running = portcullis(args, { cwd: folder, variables })
  const port = portIn(await running.ready)
  const client = httpsClient({ port, ca: await readFile(join(folder, 'pki', 'ca.pem'), 'utf8') })
  const fetch: typeof client.fetch = (path, request = {}, device) =>
    client.fetch(path, { ...request, headers: { host: HOST, ...request.headers } }, device)
  return { fetch, running, port }
}

/** Runs `portcullis pki …` beside the processes that serve the storage. */
async function pki(storage: string, ...args: readonly string[]) {
  const run = portcullis(['pki', ...args, '--json', '--storage', storage, '--pki', 'pki'], { cwd: folder })
  const { code, stdout, stderr } = await run.ended
  return { code, stderr, value: stdout === '' ? undefined : JSON.parse(stdout) }
}

/** The certificate that a server shows. */
function shownAt(port: number): Promise<{ readonly issuer: string; readonly key: string }> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
      const { issuer, pubkey } = socket.getPeerCertificate()
      resolve({ issuer: String(issuer.CN), key: pubkey?.toString('base64') ?? '' })
      socket.destroy()
    })
    socket.once('error', reject)
  })
}

it('changes of every key under two processes over PostgreSQL: no login, no token and no invitation fails', {
  timeout: 5 * MINUTE,
}, async () => {
  const { url, drop } = await createDatabase()
  onTestFinished(drop)
  const both = [await served(url), await served(url)] as const
  const [one, other] = both
  const before = await openIdTokens(one, ADMIN)
  const invite = async (name: string) => {
    const headers = { ...JSON_BODY, authorization: `Bearer ${before.access_token}` }
    const body = JSON.stringify({ name, type: 'Device', isAdmin: false, enrollment: { ott: true } })
    const made = await one.fetch('/edge/management/v1/identities', { method: 'POST', headers, body })
    const { data } = (await made.json()) as { data: { id: string } }
    const shown = await one.fetch(`/edge/management/v1/identities/${data.id}`, { headers })
    const { data: identity } = (await shown.json()) as { data: { enrollment: { ott: { token: string } } } }
    return identity.enrollment.ott.token
  }
  const redeem = async (at: typeof one, token: string) => {
    const { key, csr } = await createSigningRequest('device')
    const headers = { 'content-type': 'application/x-pem-file' }
    const request = { method: 'POST', headers, body: csr }
    const answer = await at.fetch(`/edge/client/v1/enroll?method=ott&token=${token}`, request)
    const { data } = (await answer.json()) as { data: { cert: string } }
    return { status: answer.status, key, cert: data?.cert }
  }
  const invited = [await invite('first'), await invite('second')]
  const device = await redeem(one, await invite('third'))

  // All the while: who logged in at one process is known to the other, and a device logs in by its certificate.
  const failed: string[] = []
  let rounds = 0
  let isOver = false
  const note = async (what: string, answer: Promise<Response>) => {
    const { status } = await answer.catch((error: unknown) => ({ status: String(error) }))
    if (status !== 200) failed.push(`${what}: ${status}`)
  }
  const working = (async () => {
    for (; !isOver; rounds += 1) {
      const [here, there] = rounds % 2 === 0 ? both : [other, one]
      const tokens = await openIdTokens(here, ADMIN).catch((error: unknown) => void failed.push(String(error)))
      if (tokens !== undefined) {
        await note('bearer elsewhere', bearing(there, tokens.access_token))
        await note('refresh elsewhere', refresh(there, tokens.refresh_token))
      }
      const login = { method: 'POST', headers: JSON_BODY, body: '{}' }
      await note('device', there.fetch('/edge/client/v1/authenticate?method=cert', login, device))
      await sleep(50)
    }
  })()
  const issuers = async () => (await Promise.all(both.map(({ port }) => shownAt(port)))).map(({ issuer }) => issuer)
  for (const what of ['root', 'signing']) {
    const shownBefore = await issuers()
    expect(await pki(url, 'rotate', what)).toMatchObject({ code: 0, stderr: '' })
    await vi.waitUntil(async () => (await issuers()).every((issuer, index) => issuer !== shownBefore[index]), {
      timeout: MINUTE,
      interval: 500,
    })
  }
  // An invitation from before both changes.
  expect(await redeem(other, invited[0] ?? '')).toMatchObject({ status: 200 })
  // Facts that depend on the key of the server are told before it changes.
  expect((await pki(url, 'status')).value.server.outstandingEnrollments).toBe(1)
  const refused = await pki(url, 'rotate', 'server')
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('1 outstanding enrollments')])
  expect(await redeem(one, invited[1] ?? '')).toMatchObject({ status: 200 })
  const key = (await shownAt(one.port)).key
  expect(await pki(url, 'rotate', 'server')).toMatchObject({ code: 0 })
  const keys = async () => (await Promise.all(both.map(({ port }) => shownAt(port)))).map((shown) => shown.key)
  await vi.waitUntil(async () => (await keys()).every((shown) => shown !== key), { timeout: MINUTE, interval: 500 })
  const [first, second] = await keys()
  expect(first).toBe(second)
  // Tokens by the key of before, at both processes.
  for (const at of both) expect((await bearing(at, before.access_token)).status).toBe(200)
  const renewed = await tokensIn(await refresh(other, before.refresh_token))
  expect(claimsOf(renewed.access_token).sub).toBe(claimsOf(before.access_token).sub)
  const published = async (at: typeof one) => (await at.fetch('/oidc/keys')).text()
  expect(await published(one)).toBe(await published(other))
  const until = rounds + 10
  await vi.waitUntil(() => rounds >= until, { timeout: MINUTE })
  isOver = true
  await working
  console.log(`${rounds} rounds of logins over three changes of keys, ${failed.length} failed`)
  expect(failed).toEqual([])
})

it('the campaign that asks devices to renew goes on after a kill in the middle, and asks each of them', {
  timeout: 5 * MINUTE,
}, async () => {
  const file = join(folder, 'network.sqlite')
  const controller = await createTestController({
    storage: await sqliteStorage(file),
    pki: await openPkiDirectory(join(folder, 'pki'), {
      hosts: ['localhost'],
      trustDomain: 'corp.test',
      now: Date.now(),
    }),
    address: HOST,
    now: Date.now(),
  })
  for (let index = 0; index < DEVICES; index += 1) await controller.enroll(`device ${index}`)
  await controller.close()
  const database = new DatabaseSync(file, { readOnly: true })
  onTestFinished(() => database.close())
  const asked = () =>
    Number(database.prepare('select count(*) as count from authenticators where is_extend_requested = 1').get()?.count)

  const storage = `sqlite:${file}`
  const killed = await served(storage)
  expect((await pki(storage, 'rotate', 'root')).value.progress.identities).toEqual({ renewed: 0, outstanding: DEVICES })
  while (asked() === 0) await sleep(2)
  killed.running.kill('SIGKILL')
  await killed.running.ended
  const before = asked()
  console.log(`${before} of ${DEVICES} were asked when the controller was killed`)
  expect(before).toBeLessThan(DEVICES)
  expect((await pki(storage, 'status')).value.authorities.at(-1).askedAt).toBe(null)

  await served(storage)
  await vi.waitUntil(() => asked() === DEVICES, { timeout: MINUTE, interval: 100 })
  const told = async () => (await pki(storage, 'status')).value.authorities.at(-1).askedAt
  await vi.waitUntil(async () => (await told()) !== null, { timeout: MINUTE, interval: 500 })
})
