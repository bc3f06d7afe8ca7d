// The programs of docs/recipes.md and docs/agents.md, taken from the guides and run with the frameworks themselves.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { createManagementClient } from 'portcullis/client'
import { enroll, openIdentity } from 'portcullis/sdk'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { httpsClient } from '../support/https-fetch.ts'
import { complaints, programsIn, textOf } from './guide-programs.ts'
import { newProject, whyNotInstalled } from './new-project.ts'

const ACCOUNT = { username: 'admin', password: 'a-long-password' }
const SHOWN_PORT = '1280'

/** The programs of the recipes by the headings above them. */
const [[, shared] = ['', []], ...recipes] = textOf('recipes.md')
  .split(/^## /m)
  .map((section) => [section.split('\n', 1).join(), programsIn(section)] as const)

/** The files that a project of SvelteKit has by itself, and its routes. */
const SVELTEKIT = {
  'package.json': '{ "private": true, "type": "module", "dependencies": { "portcullis": "*" } }',
  'vite.config.js': `
    import adapter from '@sveltejs/adapter-node'
    import { sveltekit } from '@sveltejs/kit/vite'
    export default { plugins: [sveltekit({ adapter: adapter() })] }`,
  'src/app.html': '<html><head>%sveltekit.head%</head><body>%sveltekit.body%</body></html>',
  'src/routes/hello/+server.ts': "export const GET = () => new Response('hello')",
  'src/routes/names/+server.ts': namesRoute('../../../kept.ts'),
}

/** The same of Next.js. */
const NEXT = {
  'package.json': '{ "private": true, "type": "module" }',
  'tsconfig.json': '{ "compilerOptions": { "strict": true, "allowImportingTsExtensions": true } }',
  'app/layout.tsx': `
    import type { ReactNode } from 'react'
    export default ({ children }: { readonly children: ReactNode }) => <html lang="en"><body>{children}</body></html>`,
  'app/hello/route.ts': "export const GET = () => new Response('hello')",
  'app/names/route.ts': namesRoute('../../kept.ts'),
}

/** A route of an application that asks the controller of its process. */
function namesRoute(kept: string): string {
  return `
    import { SYSTEM_CALL } from 'portcullis'
    import { controller } from '${kept}'
    export const GET = async () =>
      Response.json((await controller.as(SYSTEM_CALL).services.list()).items.map(({ name }) => name))`
}

/** How Nest serves by itself, as the guide says: it is compiled alone. */
const LISTENING = `
  import { NestFactory } from '@nestjs/core'
  import { tlsOptions } from 'portcullis/node'
  import { controller } from './network.ts'
  await NestFactory.create(class {}, { httpsOptions: tlsOptions(controller.tls()) })`

let project = ''
beforeAll(async () => {
  project = (await newProject()).folder
}, 400_000)
afterAll(() => rm(project, { recursive: true, force: true }))

/** Writes a recipe, and what else its project needs, into a folder of its own, for a port that is free. */
async function recipe(heading: string, others: Readonly<Record<string, string>> = {}) {
  const programs = [...shared, ...(recipes.find(([name]) => name === heading)?.[1] ?? [])]
  const files = [...programs, ...Object.entries(others).map(([path, code]) => ({ path, code }))]
  const folder = await written(heading, files)
  return { folder, paths: programs.map(({ path }) => join(folder, path)) }
}

/** Writes files into a folder of the project, for a port that is free; resolves to the folder. */
async function written(name: string, files: ReturnType<typeof programsIn>): Promise<string> {
  const folder = join(project, name)
  const port = await freePort()
  for (const { path, code } of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), code.replaceAll(SHOWN_PORT, String(port)))
  }
  return folder
}

/** Starts a program, which ends with the test, and resolves to the URL that it prints. */
function started(folder: string, program: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const child = spawn(process.execPath, ['--no-warnings', ...program], { cwd: folder, env: { ...process.env, ...env } })
  const ended = once(child, 'close')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  // Its output is read until its end: a program that writes to a closed pipe ends.
  return new Promise((resolve, reject) => {
    let told = ''
    const hear = (text: string) => {
      told += text
    }
    child.stderr.on('data', hear)
    child.stdout.on('data', (text) => {
      hear(text)
      const [url] = /https?:\/\/\S+/.exec(told) ?? []
      if (url !== undefined) resolve(url)
    })
    void ended.then(() => reject(new Error(`${program} ended: ${told}`)))
  })
}

/** Sends requests to a program whose certificate nobody knows yet. */
function anyone(url: string): (request: Request) => Promise<Response> {
  if (url.startsWith('http:')) return fetch
  const client = httpsClient({ port: Number(new URL(url).port) })
  onTestFinished(() => client.close())
  return async (request) => {
    const { pathname, search } = new URL(request.url)
    const headers = Object.fromEntries(request.headers)
    return client.fetch(`${pathname}${search}`, { method: request.method, headers, body: await request.text() })
  }
}

/** Logs in at the controller, creates a service and finds it in the list: resolves to the client that did. */
async function administrated(url: string) {
  const management = createManagementClient({ baseUrl: url, fetch: anyone(url) })
  const { data } = await management.call('POST /authenticate', { query: { method: 'password' }, body: ACCOUNT })
  const admin = management.withToken(data.token)
  await admin.call('POST /services', { body: { name: 'wiki', encryptionRequired: true } })
  const services = await admin.call('GET /services', { query: {} })
  expect(services.data.map(({ name }) => name)).toEqual(['wiki'])
  return { admin, token: data.token }
}

/** Invites a device, which enrolls and logs in by its certificate. */
async function deviceLogsIn({ admin }: Awaited<ReturnType<typeof administrated>>) {
  const body = { name: 'laptop', type: 'Device', isAdmin: false, enrollment: { ott: true } } as const
  const { data } = await admin.call('POST /identities', { body })
  const invited = await admin.call('GET /identities/{id}', { params: { id: data.id } })
  const laptop = await openIdentity(await enroll(invited.data.enrollment.ott?.jwt ?? ''), { sessions: 'api-session' })
  onTestFinished(() => laptop.close())
  expect((await laptop.client.call('GET /current-identity')).data.name).toBe('laptop')
}

/** Asks a route of the application, with a body or without. */
async function asked(url: string, path: string, init: RequestInit = {}) {
  const response = await anyone(url)(new Request(new URL(path, url), init))
  return { status: response.status, text: await response.text() }
}

describe('the recipe for', () => {
  it.each(recipes)('%s has at most thirty lines, with the controller', (_heading, programs) => {
    const imported = shared.filter(({ path }) =>
      [...shared, ...programs].some(({ code }) => code.includes(`/${path}'`)),
    )
    const lines = [...imported, ...programs].flatMap(({ code }) => code.split('\n')).filter((line) => line !== '')
    expect(lines.length).toBeGreaterThan(15)
    expect(lines.length).toBeLessThanOrEqual(30)
  })

  it('NestJS', { timeout: 200_000 }, async ({ skip }) => {
    const nest = ['@nestjs/common@12', '@nestjs/core@12', '@nestjs/platform-express@12', 'reflect-metadata', 'rxjs@7']
    const reason = await whyNotInstalled(project, ...nest)
    skip(reason !== undefined, reason)
    const { folder, paths } = await recipe('NestJS', { 'listening.ts': LISTENING })
    expect(complaints([...paths, join(folder, 'listening.ts')])).toEqual([])
    // Node strips types and knows no decorators: users of Nest have a compiler.
    const { outputText } = ts.transpileModule(readFileSync(join(folder, 'nest.ts'), 'utf8'), {
      compilerOptions: {
        target: ts.ScriptTarget.ES2024,
        module: ts.ModuleKind.ESNext,
        experimentalDecorators: true,
        emitDecoratorMetadata: true,
      },
    })
    await writeFile(join(folder, 'nest.js'), outputText)
    const url = await started(folder, ['nest.js'])
    expect(await asked(url, '/hello')).toEqual({ status: 200, text: 'hello' })
    const headers = { 'content-type': 'application/json' }
    const posted = await asked(url, '/hello', { method: 'POST', headers, body: '{"name":"you"}' })
    expect(posted).toEqual({ status: 201, text: 'hello you' })
    expect((await asked(url, '/nothing')).text).toContain('Cannot GET /nothing')
    await deviceLogsIn(await administrated(url))
  })

  it('h3', { timeout: 200_000 }, async ({ skip }) => {
    const reason = await whyNotInstalled(project, 'h3@2')
    skip(reason !== undefined, reason)
    const { folder, paths } = await recipe('h3')
    expect(complaints(paths)).toEqual([])
    const url = await started(folder, ['h3.ts'])
    expect(await asked(url, '/hello')).toEqual({ status: 200, text: 'hello' })
    expect((await asked(url, '/nothing')).status).toBe(404)
    await deviceLogsIn(await administrated(url))
  })

  it('tRPC', { timeout: 200_000 }, async ({ skip }) => {
    const reason = await whyNotInstalled(project, '@trpc/server@11')
    skip(reason !== undefined, reason)
    const { folder, paths } = await recipe('tRPC')
    expect(complaints(paths)).toEqual([])
    const url = await started(folder, ['trpc.ts'])
    expect(await asked(url, '/trpc/hello')).toMatchObject({ status: 401 })
    const administration = await administrated(url)
    const headers = { 'zt-session': administration.token }
    expect((await asked(url, '/trpc/hello', { headers })).text).toBe('{"result":{"data":"hello Default Admin"}}')
    const services = JSON.parse((await asked(url, '/trpc/services', { headers })).text)
    expect(services.result.data.items).toEqual([expect.objectContaining({ name: 'wiki' })])
    await deviceLogsIn(administration)
  })

  it('SvelteKit', { timeout: 300_000 }, async ({ skip }) => {
    const kit = ['@sveltejs/kit@3', '@sveltejs/adapter-node@6', '@sveltejs/vite-plugin-svelte@7', 'svelte@5', 'vite@8']
    const reason = await whyNotInstalled(project, ...kit, 'typescript@6')
    skip(reason !== undefined, reason)
    const { folder, paths } = await recipe('SvelteKit', SVELTEKIT)
    await promisify(execFile)(process.execPath, [join(project, 'node_modules/vite/bin/vite.js'), 'build'], {
      cwd: folder,
    })
    // The types of the platform are those of the adapter.
    const adapter = join(project, 'node_modules/@sveltejs/adapter-node/ambient.d.ts')
    expect(complaints([...paths, adapter])).toEqual([])
    const url = await started(folder, ['server.js'])
    expect(await asked(url, '/hello')).toEqual({ status: 200, text: 'hello' })
    expect((await asked(url, '/nothing')).status).toBe(404)
    await deviceLogsIn(await administrated(url))
    expect((await asked(url, '/names')).text).toBe('["wiki"]')
    const enrollment = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'a signing request' }
    expect(await asked(url, '/enroll?method=ott&token=unknown', enrollment)).toMatchObject({
      status: 400,
      text: expect.stringContaining('INVALID_ENROLLMENT_TOKEN'),
    })
    // The hook alone, as the guide describes it.
    const hooked = await started(folder, ['build/index.js'], { HOST: '127.0.0.1', PORT: String(await freePort()) })
    expect(await asked(hooked, '/hello')).toEqual({ status: 200, text: 'hello' })
    await administrated(hooked)
    expect(await asked(hooked, '/enroll?method=ott&token=unknown', enrollment)).toEqual({
      status: 403,
      text: 'Cross-site POST form submissions are forbidden',
    })
  })

  it('Next.js', { timeout: 400_000 }, async ({ skip }) => {
    const next = ['next@16', 'react@19', 'react-dom@19', 'typescript@6', '@types/react@19', '@types/node@24']
    const reason = await whyNotInstalled(project, ...next)
    skip(reason !== undefined, reason)
    const { folder } = await recipe('Next.js', NEXT)
    const env = { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' } as const
    const program = join(project, 'node_modules/next/dist/bin/next')
    // It checks the types as well.
    await promisify(execFile)(process.execPath, [program, 'build'], { cwd: folder, env })
    const url = await started(folder, ['server.js'], env)
    expect(await asked(url, '/hello')).toEqual({ status: 200, text: 'hello' })
    expect((await asked(url, '/nothing')).status).toBe(404)
    await deviceLogsIn(await administrated(url))
    expect((await asked(url, '/names')).text).toBe('["wiki"]')
    const port = String(await freePort())
    const routed = await started(folder, [program, 'start', '--hostname', '127.0.0.1', '--port', port], env)
    await administrated(routed)
    expect((await asked(routed, '/names')).text).toBe('["wiki"]')
    expect((await asked(routed, '/version')).status).toBe(404)
  })
})

it('agents reach tools as docs/agents.md says, until their grant ends', { timeout: 200_000 }, async ({ skip }) => {
  const reason = await whyNotInstalled(project, '@modelcontextprotocol/sdk@1', 'express@5', 'zod@4')
  skip(reason !== undefined, reason)
  const guide = textOf('agents.md')
  const programs = programsIn(guide)
  const folder = await written('agents', programs)
  expect(complaints(programs.map(({ path }) => join(folder, path)))).toEqual([])
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', 'agent.ts'], { cwd: folder })
  expect(stdout).toBe(/^```text\n([\s\S]*?)^```$/m.exec(guide)?.[1])
})
