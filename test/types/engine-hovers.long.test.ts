import { join } from 'node:path'
import ts from 'typescript'
import { beforeAll, describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const HOST = join(import.meta.dirname, 'hovered-host.ts')

/** A host that calls the engine by every name that is hovered below. */
const HOST_TEXT = `
import type { Controller } from 'portcullis'
declare const controller: Controller
declare const caller: Parameters<Controller['as']>[0]
export const engine = controller.engine
export const bound = controller.as(caller)
export const create = bound.services.create
export const list = bound.services.list
export const get = bound.services.get
export const patch = controller.engine.identities.patch
export const session = controller.engine.sessions.create
export const service = await bound.services.create({ name: 'web' })
export const page = await bound.services.list()
`

/** The names that no hover may show: schemas, and types that are made of schemas before they are named. */
const PLUMBING =
  /Parts<|Body<|Pick<|Omit<|Partial<\{|Flat<|Zod|\bz\.|EngineContext|ReadTransaction|WithoutCall|TakesCall/

describe('an editor that hovers over the engine', () => {
  let checker: ts.TypeChecker
  let exports: ReadonlyMap<string, ts.Symbol>

  beforeAll(() => {
    const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile)
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT)
    const host = ts.createCompilerHost(options)
    const { getSourceFile, fileExists, readFile } = host
    host.fileExists = (path) => path === HOST || fileExists(path)
    host.readFile = (path) => (path === HOST ? HOST_TEXT : readFile(path))
    host.getSourceFile = (path, target, ...rest) =>
      path === HOST ? ts.createSourceFile(path, HOST_TEXT, target) : getSourceFile(path, target, ...rest)
    const program = ts.createProgram({ rootNames: [HOST], options: { ...options, noEmit: true }, host })
    checker = program.getTypeChecker()
    const source = program.getSourceFile(HOST)
    expect(source && program.getSemanticDiagnostics(source).map(({ messageText }) => messageText)).toEqual([])
    const module = source && checker.getSymbolAtLocation(source)
    exports = new Map((module ? checker.getExportsOfModule(module) : []).map((symbol) => [symbol.name, symbol]))
  }, 240_000)

  const typeOf = (name: string) => {
    const symbol = exports.get(name)
    if (symbol === undefined) throw new Error(`the host exports no ${name}`)
    return checker.getTypeOfSymbol(symbol)
  }
  const hover = (name: string) => checker.typeToString(typeOf(name))

  it('reads requests and wire forms by their names', () => {
    expect(hover('create')).toBe('(request: ServiceCreate) => Promise<Service>')
    expect(hover('list')).toBe('(question?: ListQuestion | undefined) => Promise<Page<Service>>')
    expect(hover('get')).toBe('(id: string) => Promise<Service>')
    expect(hover('patch')).toBe('(call: Call, id: string, request: IdentityPatch) => Promise<Identity>')
    expect(hover('session')).toBe(
      '(call: Call, request: SessionCreate) => Promise<{ readonly session: Session; readonly token: string; }>',
    )
    expect(hover('service')).toBe('Service')
    expect(hover('page')).toBe('Page<Service>')
  })

  it.each(['engine', 'bound'])('sees no plumbing behind any method of %s', (name) => {
    const methods = typeOf(name)
      .getProperties()
      .flatMap((part) =>
        checker
          .getTypeOfSymbol(part)
          .getProperties()
          .map((method) => `${part.name}.${method.name}: ${checker.typeToString(checker.getTypeOfSymbol(method))}`),
      )
    expect(methods.length).toBeGreaterThan(100)
    expect(methods.filter((hovered) => PLUMBING.test(hovered))).toEqual([])
  })
})
