import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { createClient } from '@hey-api/openapi-ts'
import { apiDocuments } from 'portcullis'
import ts from 'typescript'
import { expect, it, onTestFinished } from 'vitest'
import { adminOf, MANAGEMENT } from '../contract/http/foreign-client.ts'
import { newKey, selfSigned } from '../contract/http/signing-request.ts'
import { mount } from './mount.ts'

const PROGRAM = new URL('generated-client/program.ts.txt', import.meta.url)
/** Below the repository, so that the program finds the types of Node; not in version control. */
const WORKSHOP = fileURLToPath(new URL('../../.openapi/', import.meta.url))

it('a client that is generated from the management document compiles and drives every resource', async () => {
  const folder = await generated('management')
  await copyFile(PROGRAM, `${folder}/program.ts`)
  expect(compile(`${folder}/program.ts`, `${folder}/out`)).toEqual([])
  const { run } = await import(/* @vite-ignore */ pathToFileURL(`${folder}/out/program.js`).href)
  const mounted = await mount()
  const { token } = await adminOf(mounted)
  const fetch = (request: Request) => mounted.controller.fetch(request)
  const outcome = await run(`${mounted.url}${MANAGEMENT}`, fetch, token, selfSigned(newKey(), '/CN=a'))
  expect(Object.keys(outcome)).toHaveLength(15)
  for (const changes of Object.entries(outcome)) expect(changes).toEqual([changes[0], [{}, { owner: 'ops' }]])
}, 120_000)

it('a client that is generated from the client document compiles', async () => {
  const folder = await generated('client')
  expect(compile(`${folder}/index.ts`, `${folder}/out`)).toEqual([])
}, 120_000)

/** A folder with a generated client, gone when the test is. */
async function generated(api: 'client' | 'management'): Promise<string> {
  await mkdir(WORKSHOP, { recursive: true })
  const folder = await mkdtemp(`${WORKSHOP}generated-`)
  onTestFinished(() => rm(folder, { recursive: true }))
  const document = `${folder}/${api}.json`
  await writeFile(document, JSON.stringify(apiDocuments('v0')[api]))
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
