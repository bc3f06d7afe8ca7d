import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { createClient } from '@hey-api/openapi-ts'
import { apiDocuments } from 'portcullis'
import { serve } from 'portcullis/node'
import ts from 'typescript'
import { expect, it, onTestFinished } from 'vitest'
import { adminOf, MANAGEMENT } from '../contract/http/foreign-client.ts'
import type { MountedController } from '../contract/http/mount.ts'
import { newKey, selfSigned } from '../contract/http/signing-request.ts'
import { socketMount } from '../support/socket-mount.ts'

const PROGRAM = new URL('generated-client/program.ts.txt', import.meta.url)
/** Below the repository, so that the program finds the types of Node; not in version control. */
const WORKSHOP = fileURLToPath(new URL('../../.openapi/', import.meta.url))

it('a client that is generated from the management document compiles and drives every resource over HTTPS', async () => {
  const folder = await generated('management')
  await copyFile(PROGRAM, `${folder}/program.ts`)
  expect(compile(`${folder}/program.ts`, `${folder}/out`)).toEqual([])
  const { run, runOthers } = await import(/* @vite-ignore */ pathToFileURL(`${folder}/out/program.js`).href)
  const mounted = await served()
  const { token } = await adminOf(mounted)
  const expiresAt = new Date(mounted.clock.now() + 3_600_000).toISOString()
  const facts = { token, expiresAt, certPem: selfSigned(newKey(), '/CN=a') }
  const at = [`${mounted.url}${MANAGEMENT}`, overSocket(mounted), facts] as const
  const outcome = await run(...at)
  expect(Object.keys(outcome)).toHaveLength(16)
  const written = [{}, { owner: 'first' }, { owner: 'ops' }]
  for (const changes of Object.entries(outcome)) expect(changes).toEqual([changes[0], written])
  expect(await runOthers(...at)).toEqual({
    enrollment: ['ott', 1, true],
    revocation: 'JTI',
    revocations: 1,
    apiSession: expect.any(String),
    sessions: [],
    identityTypes: ['Default', 'Device', 'Router', 'Service', 'User'],
    postureCheckTypes: expect.arrayContaining(['OS', 'PROCESS', 'DOMAIN', 'MAC', 'PROCESS_MULTI']),
    controllers: 1,
    version: expect.stringMatching(/^v/),
  })
}, 120_000)

it('a client that is generated from the client document compiles', async () => {
  const folder = await generated('client')
  expect(compile(`${folder}/index.ts`, `${folder}/out`)).toEqual([])
}, 120_000)

/** A controller behind a socket, whose certificate its clients verify; gone when the test is. */
async function served(): Promise<MountedController> {
  const open = socketMount(async (controller) => {
    const server = await serve(controller, { port: 0 })
    return { port: server.port, close: () => server.close({ graceMs: 0 }) }
  })
  const mounted = await open()
  onTestFinished(() => mounted.dispose())
  return mounted
}

/** The function that a generated client calls instead of the global `fetch`, which trusts no private CA. */
function overSocket(mounted: MountedController) {
  return async (request: Request) => {
    const { pathname, search } = new URL(request.url)
    const body = new Uint8Array(await request.arrayBuffer())
    const { method } = request
    const headers = Object.fromEntries(request.headers)
    return mounted.fetch(`${pathname}${search}`, { method, headers, ...(body.length > 0 && { body }) })
  }
}

/** A folder with a generated client, gone when the test is. */
async function generated(api: 'client' | 'management'): Promise<string> {
  await mkdir(WORKSHOP, { recursive: true })
  const folder = await mkdtemp(`${WORKSHOP}generated-`)
  onTestFinished(() => rm(folder, { recursive: true }))
  const document = `${folder}/${api}.json`
  await writeFile(document, JSON.stringify((await apiDocuments('v0'))[api]))
  const plugins = ['@hey-api/typescript', '@hey-api/sdk', '@hey-api/client-fetch'] as const
  await createClient({ input: document, output: `${folder}/client`, logs: { level: 'silent' }, plugins: [...plugins] })
  return `${folder}/client`
}

/** Compiles a program strictly and answers what the compiler has to say. */
function compile(program: string, outDir: string): readonly string[] {
  const compiled = ts.createProgram([program], {
    outDir,
    lib: ['lib.es2024.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    skipLibCheck: true,
    strict: true,
    target: ts.ScriptTarget.ES2022,
    types: [],
  })
  const { diagnostics } = compiled.emit()
  return [...ts.getPreEmitDiagnostics(compiled), ...diagnostics].map(({ file, messageText }) =>
    [file?.fileName.split('/').at(-1), ts.flattenDiagnosticMessageText(messageText, '\n')].join(': '),
  )
}
