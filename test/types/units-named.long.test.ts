import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const { options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile).config,
  ts.sys,
  ROOT,
)
const manifest: { readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>> } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
)
const ENTRIES = Object.values(manifest.exports).flatMap((paths) => {
  const source = typeof paths === 'string' ? undefined : paths['portcullis-source']
  return source === undefined ? [] : [join(ROOT, source)]
})

/** Names of what is measured in time or in bytes. */
const MEASURED =
  /timeout|interval|duration|lifetime|delay|patience|within|maxAge|window|grace|every|bytes|length$|body$|(?:At|Until|Since|Ago)$|^(?:now|at|instant|since|until|ms)$/i
const NAMES_UNIT = /(?:Ms|Milliseconds|Seconds|Minutes|Hours|Days|Bytes)$/
const TELLS_UNIT = /\b(?:ms|milliseconds?|seconds?|minutes?|hours?|days?|bytes?|characters|bits|[KM]iB)\b/i

it('every number of the public interface that measures time or size names its unit', { timeout: 120_000 }, () => {
  const program = ts.createProgram(ENTRIES, options)
  const checker = program.getTypeChecker()
  const silent = new Set<string>()
  let measured = 0

  const look = (
    owner: ts.Node,
    path: string,
    member: ts.PropertySignature | ts.PropertyDeclaration | ts.ParameterDeclaration,
  ) => {
    const name = member.name.getText()
    const type = checker.getNonNullableType(checker.getTypeAtLocation(member))
    if (!MEASURED.test(name) || !(type.flags & ts.TypeFlags.NumberLike)) return
    measured += 1
    const told = [member, owner].flatMap((node) => ts.getJSDocCommentsAndTags(node).map((comment) => comment.getText()))
    if (!NAMES_UNIT.test(name) && !TELLS_UNIT.test(told.join(' '))) silent.add(`${path}.${name}`)
  }
  const lookAt = (declared: ts.Node, name: string) => {
    if (ts.isFunctionDeclaration(declared)) for (const one of declared.parameters) look(declared, name, one)
    if (!ts.isInterfaceDeclaration(declared) && !ts.isClassDeclaration(declared)) return
    for (const member of declared.members) {
      if (member.name !== undefined && ts.isPrivateIdentifier(member.name)) continue
      if (ts.isPropertySignature(member) || ts.isPropertyDeclaration(member)) look(declared, name, member)
      if (ts.isMethodSignature(member) || ts.isMethodDeclaration(member)) {
        for (const one of member.parameters) look(member, `${name}.${member.name.getText()}`, one)
      }
    }
  }
  for (const entry of ENTRIES) {
    const source = program.getSourceFile(entry)
    const module = source && checker.getSymbolAtLocation(source)
    for (const exported of module === undefined ? [] : checker.getExportsOfModule(module)) {
      const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported
      for (const declared of symbol.declarations ?? []) {
        if (!declared.getSourceFile().isDeclarationFile) lookAt(declared, symbol.name)
      }
    }
  }
  expect(measured).toBeGreaterThan(60)
  expect([...silent].sort()).toEqual([])
})
