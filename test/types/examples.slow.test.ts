import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')

/** The entries of the package: what is imported, and the source it stands for. */
const ENTRIES = Object.entries(
  JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).exports as Record<
    string,
    Record<string, string> | string
  >,
).flatMap(([name, paths]) => {
  const source = typeof paths === 'string' ? undefined : paths['portcullis-source']
  return source === undefined ? [] : [{ specifier: join('portcullis', name), path: join(ROOT, source) }]
})

/** The names that examples take as given, as the readers of a manual do. */
const GIVEN: Readonly<Record<string, string>> = {
  controller: `import('portcullis').Controller`,
  engine: `import('portcullis').HostEngine`,
  call: `import('portcullis').Call`,
  caller: `import('portcullis').Caller`,
  storage: `import('portcullis').Storage`,
  identity: `import('portcullis/client').Identity`,
  service: `import('portcullis/client').Service`,
  signer: `import('portcullis/client').ExternalJwtSigner`,
  operator: `import('portcullis').Operator`,
  token: 'string',
  id: 'string',
  serviceId: 'string',
  cert: 'string',
  key: 'string',
  now: 'number',
  cause: 'unknown',
  use: '(value: unknown) => void',
  management: `ReturnType<typeof import('portcullis/client').createManagementClient>`,
  admin: `Parameters<typeof import('portcullis/model').planModel>[0]`,
  plan: `Awaited<ReturnType<typeof import('portcullis/model').planModel>>`,
  model: `Awaited<ReturnType<typeof import('portcullis/model').readModel>>`,
  network: `import('portcullis/model').Network`,
  net: `import('portcullis/testing').TestController`,
  collection: `import('portcullis/storage').ReadCollection<import('portcullis/storage').StoredRecord>`,
  records: `readonly (import('portcullis/storage').StoredRecord & { readonly cost: number })[]`,
  check: `Parameters<typeof import('portcullis/policy').evaluateCheck>[0]`,
  checks: `readonly Parameters<typeof import('portcullis/policy').evaluateCheck>[0][]`,
  data: `Parameters<typeof import('portcullis/policy').evaluateCheck>[1]`,
  known: `Parameters<typeof import('portcullis/policy').evaluateCheck>[1]`,
  facts: `Parameters<typeof import('portcullis/policy').explainAccess>[0]`,
  policies: `Parameters<typeof import('portcullis/policy').findViolation>[1]`,
  invariant: `Parameters<typeof import('portcullis/policy').violationText>[0]`,
  violation: `Parameters<typeof import('portcullis/policy').violationText>[1]`,
  symbols: `Parameters<typeof import('portcullis/storage').parseQuery>[1]`,
  createTable: '(name: string, fields: object) => Promise<void>',
  myStorage: `() => import('portcullis').Storage`,
  frame: `Parameters<typeof import('portcullis/testing').bodyOf>[0]`,
  incoming: `import('node:http').IncomingMessage`,
  outgoing: `import('node:http').ServerResponse`,
  server: `import('node:tls').Server`,
  laptop: `import('portcullis/sdk').Identity`,
  socket: `import('node:stream').Duplex`,
  open: `Parameters<typeof import('portcullis/fabric').openOperatorConnection>[1]`,
}

/** The imports of examples from elsewhere. */
const IMPORTS: Readonly<Record<string, string>> = {
  readFile: `import { readFile } from 'node:fs/promises'`,
  writeFile: `import { writeFile } from 'node:fs/promises'`,
  createServer: `import { createServer } from 'node:https'`,
  expect: `import { expect } from 'vitest'`,
  express: `import express from 'express'`,
  fastify: `import fastify from 'fastify'`,
  Hono: `import { Hono } from 'hono'`,
  getRequestListener: `import { getRequestListener } from '@hono/node-server'`,
}

interface Example {
  readonly from: string
  readonly text: string
}

/** Every example in the comments of the sources. */
function examples(): readonly Example[] {
  return ['src', 'adapters'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) => examplesIn(join(folder, name))),
  )
}

function examplesIn(path: string): readonly Example[] {
  const comments = readFileSync(join(ROOT, path), 'utf8').match(/\/\*\*[\s\S]*?\*\//g) ?? []
  return comments.flatMap((comment) => {
    const text = comment
      .replace(/\*\/$/, '')
      .split('\n')
      .map((line) => line.replace(/^\s*\*? ?/, ''))
      .join('\n')
    const [, ...blocks] = text.split('@example')
    return blocks.map((block) => ({ from: path, text: (block.split(/\n@\w/)[0] ?? '').trim() }))
  })
}

/** An example as a module: what it names is imported or declared, unless it does so itself. */
function moduleOf({ from, text }: Example, exported: ReadonlyMap<string, string>): string {
  const { used, own } = namesIn(text)
  const needed = [...used].filter((name) => !own.has(name))
  const beside = readFileSync(join(ROOT, from), 'utf8')
  const given = (name: string): string[] => {
    if (IMPORTS[name] !== undefined) return [IMPORTS[name]]
    if (GIVEN[name] !== undefined) return [`declare const ${name}: ${GIVEN[name]}`]
    if (exported.has(name)) return [`import { ${name} } from '${exported.get(name)}'`]
    return new RegExp(`export (async )?function ${name}\\(`).test(beside)
      ? [`import { ${name} } from '${join(ROOT, from)}'`]
      : []
  }
  const augmented = text.includes('toAllow(') ? [`import 'portcullis/testing/vitest'`] : []
  return [...augmented, ...needed.flatMap(given), text, 'export {}'].join('\n')
}

/** The names that an example uses, and those that it declares or imports. */
function namesIn(text: string): { readonly used: ReadonlySet<string>; readonly own: ReadonlySet<string> } {
  const used = new Set<string>()
  const own = new Set<string>()
  const visit = (node: ts.Node): void => {
    const isDeclaration =
      ts.isVariableDeclaration(node) || ts.isParameter(node) || ts.isBindingElement(node) || ts.isImportSpecifier(node)
    if (isDeclaration && ts.isIdentifier(node.name)) own.add(node.name.text)
    const isName =
      ts.isIdentifier(node) &&
      !(ts.isPropertyAccessExpression(node.parent) && node.parent.name === node) &&
      !(ts.isPropertyAssignment(node.parent) && node.parent.name === node)
    if (isName) used.add(node.text)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile('example.ts', text, ts.ScriptTarget.Latest, true))
  return { used, own }
}

function compilerOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile)
  return { ...ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, ROOT).options, noEmit: true }
}

describe('the examples of the public interface', () => {
  const options = compilerOptions()
  const program = ts.createProgram(
    ENTRIES.map(({ path }) => path),
    options,
  )
  const checker = program.getTypeChecker()
  const exported = new Map<string, string>()
  const functions: { readonly name: string; readonly symbol: ts.Symbol }[] = []
  for (const { specifier, path } of ENTRIES) {
    const file = program.getSourceFile(path)
    const module = file && checker.getSymbolAtLocation(file)
    for (const symbol of module ? checker.getExportsOfModule(module) : []) {
      const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
      const { valueDeclaration } = target
      const isValue =
        valueDeclaration !== undefined && !valueDeclaration.getSourceFile().fileName.includes('/domain/fabric/')
      if (isValue && !exported.has(symbol.name)) exported.set(symbol.name, specifier)
      if (isValue && ts.isFunctionDeclaration(valueDeclaration))
        functions.push({ name: `${specifier} ${symbol.name}`, symbol: target })
    }
  }

  it('stand on every function', () => {
    const without = functions.filter(
      ({ symbol }) => !symbol.getJsDocTags(checker).some(({ name }) => name === 'example'),
    )
    expect(without.map(({ name }) => name)).toEqual([])
    expect(functions.length).toBeGreaterThan(60)
  })

  it('compile', { timeout: 120_000 }, () => {
    const modules = new Map(
      examples().map((example, position) => [
        join(ROOT, `test/types/example-${position}.ts`),
        { example, text: moduleOf(example, exported) },
      ]),
    )
    const host = ts.createCompilerHost(options)
    const { getSourceFile, fileExists, readFile } = host
    host.fileExists = (path) => modules.has(path) || fileExists(path)
    host.readFile = (path) => modules.get(path)?.text ?? readFile(path)
    host.getSourceFile = (path, language, ...rest) => {
      const written = modules.get(path)?.text
      if (written !== undefined) return ts.createSourceFile(path, written, language)
      return program.getSourceFile(path) ?? getSourceFile(path, language, ...rest)
    }
    const checked = ts.createProgram([...modules.keys()], options, host)
    const problems = [...modules].flatMap(([path, { example, text }]) => {
      const file = checked.getSourceFile(path)
      return [...checked.getSyntacticDiagnostics(file), ...checked.getSemanticDiagnostics(file)].map(
        ({ messageText }) =>
          `${relative('.', example.from)}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}\n${text}`,
      )
    })
    expect(problems).toEqual([])
    expect(modules.size).toBeGreaterThan(80)
  })
})
