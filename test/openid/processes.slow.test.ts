import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { endAll, portcullis, portIn } from '../adapters/cli/cli-process.ts'
import type { MountedController } from '../contract/http/mount.ts'
import { httpsClient } from '../support/https-fetch.ts'
import { bearing, begin, codeOf, exchangeCode, proofKey, refresh, step, type Tokens } from '../support/openid.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'

const TRIES = 100
const ADMIN = { username: 'keeper', password: 'a-secret-of-mine' } as const
const cwd = mkdtempSync(join(tmpdir(), 'portcullis-openid-'))
/** `npm run test:storage` asks for PostgreSQL as well: the file runs once, over the one or the other. */
const isPostgres = process.env.PORTCULLIS_STORAGE_MATRIX === 'all'
let postgres: PostgresServer | undefined
let storage = 'sqlite:shared.db'
let first: Pick<MountedController, 'fetch'>
let second: Pick<MountedController, 'fetch'>

/** A process that serves the database, and is reached by the address that all of them advertise. */
async function served(...more: readonly string[]): Promise<Pick<MountedController, 'fetch'>> {
  const host = 'controller.test:1280'
  const variables = { PORTCULLIS_ADMIN_USERNAME: ADMIN.username, PORTCULLIS_ADMIN_PASSWORD: ADMIN.password }
  const args = ['serve', '--listen', '127.0.0.1:0', '--advertise', host, '--pki', 'pki', '--storage', storage, ...more]
  const port = portIn(await portcullis(args, { cwd, variables }).ready)
  const client = httpsClient({ port, ca: readFileSync(join(cwd, 'pki', 'ca.pem'), 'utf8') })
  return {
    fetch: (path, request = {}) => client.fetch(path, { ...request, headers: { host, ...request.headers } }),
  }
}

beforeAll(async () => {
  if (isPostgres) {
    postgres = await startPostgres()
    storage = postgres.url
  }
  first = await served()
  second = await served()
}, 120_000)
afterAll(async () => {
  endAll()
  await postgres?.stop()
  rmSync(cwd, { recursive: true, maxRetries: 10 })
})

/** Does the same at both processes by turns, all at once, and answers the statuses with the answers that succeeded. */
async function byTurns(attempt: (at: Pick<MountedController, 'fetch'>) => Promise<Response>) {
  const answers = await Promise.all(
    Array.from({ length: TRIES }, (_, index) => attempt(index % 2 === 0 ? first : second)),
  )
  const good = answers.filter(({ status }) => status === 200)
  return { failed: answers.filter(({ status }) => status !== 200 && status !== 400), good }
}

async function loggedIn(): Promise<Tokens> {
  const key = proofKey()
  const id = await begin(first, key)
  expect((await step(second, id, 'password', ADMIN)).status).toBe(302)
  // The token endpoint answers tokens.
  return (await (await exchangeCode(second, await codeOf(first, id), key)).json()) as Tokens
}

it(`a code is good once at most under ${TRIES} tries at the same time over two processes, and then its tokens end`, async () => {
  const key = proofKey()
  const id = await begin(first, key)
  expect((await step(second, id, 'password', ADMIN)).status).toBe(302)
  const code = await codeOf(first, id)
  const codes = await byTurns((at) => exchangeCode(at, code, key))
  expect([codes.failed, codes.good.length]).toEqual([[], 1])
  const tokens = (await codes.good[0]?.json()) as Tokens
  for (const at of [first, second]) {
    expect((await bearing(at, tokens.access_token)).status).toBe(401)
    expect((await refresh(at, tokens.refresh_token)).status).toBe(400)
  }
}, 120_000)

it('a code that comes again at the other process ends what it was exchanged for, everywhere', async () => {
  const key = proofKey()
  const id = await begin(first, key)
  await step(first, id, 'password', ADMIN)
  const code = await codeOf(first, id)
  const tokens = (await (await exchangeCode(first, code, key)).json()) as Tokens
  for (const at of [first, second]) expect((await bearing(at, tokens.access_token)).status).toBe(200)
  expect((await exchangeCode(second, code, key)).status).toBe(400)
  for (const at of [first, second]) expect((await bearing(at, tokens.access_token)).status).toBe(401)
}, 60_000)

it('a refresh token that is presented at two processes at once is answered by both; one of the answers is gone on with', async () => {
  const tokens = await loggedIn()
  const answers = await Promise.all([refresh(first, tokens.refresh_token), refresh(second, tokens.refresh_token)])
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  const [one, other] = (await Promise.all(answers.map((answer) => answer.json()))) as [Tokens, Tokens]
  for (const at of [first, second]) {
    for (const { access_token } of [one, other]) expect((await bearing(at, access_token)).status).toBe(200)
  }
  // Going on with one of them at one process uses the other up for every process.
  const next = (await (await refresh(second, one.refresh_token)).json()) as Tokens
  expect((await bearing(first, next.access_token)).status).toBe(200)
  expect((await refresh(first, other.refresh_token)).status).toBe(400)
  for (const at of [first, second]) {
    expect((await bearing(at, next.access_token)).status).toBe(401)
    expect((await refresh(at, next.refresh_token)).status).toBe(400)
  }
}, 60_000)

it(`of two answers that are both gone on with, under ${TRIES} tries over two processes, the session ends`, async () => {
  const tokens = await loggedIn()
  const answers = await Promise.all([refresh(first, tokens.refresh_token), refresh(second, tokens.refresh_token)])
  const both = (await Promise.all(answers.map((answer) => answer.json()))) as Tokens[]
  let turn = 0
  const refreshed = await byTurns((at) => refresh(at, both[turn++ % 4 < 2 ? 0 : 1]?.refresh_token ?? ''))
  expect(refreshed.failed).toEqual([])
  for (const at of [first, second]) {
    for (const { access_token } of both) expect((await bearing(at, access_token)).status).toBe(401)
  }
}, 120_000)

it('a session that ends at one process is over at the other with the next request', async () => {
  const key = proofKey()
  const id = await begin(first, key)
  await step(first, id, 'password', ADMIN)
  const tokens = (await (await exchangeCode(first, await codeOf(first, id), key)).json()) as Tokens
  expect((await bearing(second, tokens.access_token)).status).toBe(200)
  const path = '/edge/client/v1/current-api-session'
  expect((await bearing(first, tokens.access_token, path, { method: 'DELETE' })).status).toBe(200)
  expect((await bearing(second, tokens.access_token)).status).toBe(401)
}, 60_000)

it('a process that is served without it advertises nothing of it, and answers nothing of it', async () => {
  const off = await served('--oidc', 'off')
  const version = (await (await off.fetch('/version')).json()) as {
    data: { capabilities: string[]; apiVersions: object }
  }
  expect([version.data.capabilities, 'edge-oidc' in version.data.apiVersions]).toEqual([[], false])
  expect((await off.fetch('/oidc/keys')).status).toBe(404)
  const key = proofKey()
  const id = await begin(first, key)
  await step(first, id, 'password', ADMIN)
  const tokens = (await (await exchangeCode(first, await codeOf(first, id), key)).json()) as Tokens
  expect((await bearing(off, tokens.access_token)).status).toBe(401)
}, 60_000)
