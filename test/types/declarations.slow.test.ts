import { dirname, join } from 'node:path'
import ts from 'typescript'
import { beforeAll, describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const OUT = join(ROOT, 'declared')
const CONSUMER = join(ROOT, 'declared/consumer.ts')

/** A project that uses the typed client. */
const CONSUMER_TEXT = `
import { createClient, createManagementClient } from './src/client/index.js'
const management = createManagementClient({ baseUrl: 'https://controller.example.org' })
const client = createClient({ baseUrl: 'https://controller.example.org' })
export const { data: identity } = await management.call('GET /identities/{id}', { params: { id: 'laptop' } })
export const { data: service } = await client.call('GET /services/{id}', { params: { id: 'web' } })
export const { data: check } = await management.call('GET /posture-checks/{id}', { params: { id: 'os' } })
await management.call('POST /services', { body: { name: 'web' } })
`

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2024,
  lib: ['lib.es2024.d.ts'],
  types: ['node'],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  strict: true,
  exactOptionalPropertyTypes: true,
  verbatimModuleSyntax: true,
  skipLibCheck: true,
}

/** The output of the compiler for the client and for everything that it names, as in the build. */
function writtenDeclarations(): ReadonlyMap<string, string> {
  const written = new Map<string, string>()
  const program = ts.createProgram({
    rootNames: [join(ROOT, 'src/client/index.ts')],
    options: {
      ...OPTIONS,
      declaration: true,
      emitDeclarationOnly: true,
      rewriteRelativeImportExtensions: true,
      outDir: OUT,
      rootDir: ROOT,
    },
  })
  program.emit(undefined, (path, text) => written.set(path, text))
  return written
}

/** The declarations that one leads to. */
function reachedFrom(path: string, written: ReadonlyMap<string, string>, found = new Map<string, string>()) {
  const text = written.get(path)
  if (text === undefined || found.has(path)) return found
  found.set(path, text)
  for (const [, name = ''] of text.matchAll(/(?:from|import\()\s*["'](\.[^"']+)["']/g)) {
    reachedFrom(join(dirname(path), name).replace(/\.[jt]s$/, '.d.ts'), written, found)
  }
  return found
}

function bytesBelow(folder: string, declarations: ReadonlyMap<string, string>): number {
  return [...declarations]
    .filter(([path]) => path.startsWith(join(OUT, folder)))
    .reduce((sum, [, text]) => sum + Buffer.byteLength(text), 0)
}

function consumerProgram(written: ReadonlyMap<string, string>): ts.Program {
  const files = new Map([...written, [CONSUMER, CONSUMER_TEXT]])
  const host = ts.createCompilerHost(OPTIONS)
  const { readFile, fileExists } = host
  host.readFile = (path) => files.get(path) ?? readFile(path)
  host.fileExists = (path) => files.has(path) || fileExists(path)
  host.getSourceFile = (path, target) => {
    const text = host.readFile(path)
    return text === undefined ? undefined : ts.createSourceFile(path, text, target)
  }
  host.directoryExists = () => true
  return ts.createProgram({ rootNames: [CONSUMER], options: { ...OPTIONS, noEmit: true }, host })
}

describe('the declarations of the APIs', () => {
  let written: ReadonlyMap<string, string>
  let consumer: ts.Program

  beforeAll(() => {
    written = writtenDeclarations()
    consumer = consumerProgram(written)
  }, 240_000)

  it('are small: an editor reads them whenever somebody types', () => {
    const reached = reachedFrom(join(OUT, 'src/apis/apis.d.ts'), written)
    expect(reached.size).toBeGreaterThan(100)
    expect(bytesBelow('src/http', reached)).toBeLessThan(60_000)
    // Names resources, but neither the engine nor what implements ports.
    expect(bytesBelow('src', reached)).toBeLessThan(416_000)
    expect(bytesBelow('src/engine', reached) + bytesBelow('src/platform', reached)).toBe(0)
  })

  it('cost a consumer little to check', () => {
    const complaints = ts.getPreEmitDiagnostics(consumer)
    expect(complaints.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))).toEqual([])
    expect(consumer.getInstantiationCount()).toBeLessThan(80_000)
  })

  it('read as what they are: a name, and behind it an object with its members', () => {
    const checker = consumer.getTypeChecker()
    const source = consumer.getSourceFile(CONSUMER)
    const exported = source && checker.getSymbolAtLocation(source)
    const typeOf = (name: string) => {
      const symbol = exported && checker.getExportsOfModule(exported).find((one) => one.name === name)
      if (symbol === undefined) throw new Error(`the consumer exports no ${name}`)
      return checker.getTypeOfSymbol(symbol)
    }
    const shown = ['identity', 'service', 'check'].map((name) => checker.typeToString(typeOf(name)))
    expect(shown).toEqual(['Identity', 'Service', 'PostureCheck'])
    const flags = ts.TypeFormatFlags.InTypeAlias | ts.TypeFormatFlags.NoTruncation
    const members = checker.typeToString(typeOf('identity'), undefined, flags)
    expect(members).toMatch(/^\{ readonly _links: .*readonly roleAttributes: readonly string\[\];.*\}$/s)
    expect(members).not.toMatch(/Omit<|Pick<|Flat<|Zod/)
  })
})
