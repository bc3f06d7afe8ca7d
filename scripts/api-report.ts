// The exports of each entry point of the package, as declarations without comments: npm run api-report writes it to
// docs/api-report, where a review sees what a change adds, changes or takes away; with --check it complains where that is not
// what there is.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import ts from 'typescript'

const root = join(import.meta.dirname, '..')
const folder = join(root, 'docs/api-report')

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly 'portcullis-source': string }>>
}

/** The source of each entry point by the name that it is imported by. */
function entryPoints(): ReadonlyMap<string, string> {
  const manifest: Manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const entries = Object.entries(manifest.exports).flatMap(([name, entry]): [string, string][] =>
    typeof entry === 'string' ? [] : [[name.replace('.', 'portcullis'), join(root, entry['portcullis-source'])]],
  )
  return new Map(entries)
}

/** The program of all entry points, and the declarations that the compiler writes of each of its files. */
function declare(files: readonly string[]) {
  const path = join(root, 'tsconfig.build.json')
  const { options } = ts.parseJsonConfigFileContent(ts.readConfigFile(path, ts.sys.readFile).config, ts.sys, root)
  const program = ts.createProgram([...files], { ...options, removeComments: true })
  const written = new Map<string, ts.SourceFile>()
  program.emit(undefined, (name, text, _bom, _onError, [source] = []) => {
    if (source !== undefined)
      written.set(source.fileName, ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true))
  })
  return { checker: program.getTypeChecker(), sourceOf: (file: string) => program.getSourceFile(file), written }
}

type Declared = ReturnType<typeof declare>

/** The name of a statement that declares something. */
function namesIn(statement: ts.Statement): readonly string[] {
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.map(({ name }) => name.getText())
  const name = 'name' in statement ? statement.name : undefined
  return name !== undefined && ts.isIdentifier(name as ts.Node) ? [(name as ts.Identifier).text] : []
}

/** The text of a declaration, the members of each union sorted: the compiler orders them as it met them, which differs by run. */
function textIn(node: ts.Node): string {
  const source = node.getSourceFile().text
  const children: ts.Node[] = []
  ts.forEachChild(node, (child) => void children.push(child))
  const texts = children.map(textIn)
  if (ts.isUnionTypeNode(node)) texts.sort()
  let text = ''
  let end = node.getStart()
  children.forEach((child, index) => {
    text += source.slice(end, child.getStart()) + texts[index]
    end = child.getEnd()
  })
  return text + source.slice(end, node.getEnd())
}

/** The declarations of what a name stands for. */
function textOf(exported: ts.Symbol, declared: Declared): string {
  const { checker, written } = declared
  const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported
  if (symbol.flags & ts.SymbolFlags.ValueModule) {
    const members = checker.getExportsOfModule(symbol).map((member) => textOf(member, declared))
    return `export declare namespace ${exported.name} {\n${members.join('\n\n')}\n}`
  }
  const files = [...new Set((symbol.declarations ?? []).map((one) => one.getSourceFile().fileName))]
  const statements = files.flatMap((file) => [...(written.get(file)?.statements ?? [])])
  const texts = statements.filter((one) => namesIn(one).includes(symbol.name)).map(textIn)
  const renamed = symbol.name === exported.name ? [] : [`export { ${symbol.name} as ${exported.name} };`]
  return texts.length > 0 ? [...texts, ...renamed].join('\n') : `export { ${exported.name} }; // of another package`
}

function report(name: string, file: string, ofMain: ReadonlyMap<string, string>, declared: Declared) {
  const source = declared.sourceOf(file)
  const module = source && declared.checker.getSymbolAtLocation(source)
  const symbols = module === undefined ? [] : declared.checker.getExportsOfModule(module)
  const texts = new Map(symbols.map((symbol) => [symbol.name, textOf(symbol, declared)]))
  const shown = [...texts].sort(([a], [b]) => (a < b ? -1 : 1))
  const isOfMain = ([exported, text]: readonly [string, string]) => ofMain.get(exported) === text
  const shared = shown.filter(isOfMain).map(([exported]) => exported)
  const additions = (declared.written.get(file)?.statements ?? []).filter(ts.isModuleDeclaration)
  const lines = [
    ...(shared.length === 0 ? [] : [`export { ${shared.join(', ')} } from 'portcullis';`]),
    ...shown.filter((one) => !isOfMain(one)).map(([, text]) => text),
    ...additions.map(textIn),
  ]
  const text = `# ${name}\n\nWritten by \`npm run api-report\`.\n\n\`\`\`ts\n${lines.join('\n\n')}\n\`\`\`\n`
  return { texts, text }
}

const entries = entryPoints()
const declared = declare([...entries.values()])
let ofMain: ReadonlyMap<string, string> = new Map()
const reports = new Map<string, string>()
for (const [name, file] of entries) {
  const { texts, text } = report(name, file, ofMain, declared)
  if (name === 'portcullis') ofMain = texts
  reports.set(`${name.replaceAll('/', '-')}.md`, text)
}

if (process.argv.includes('--check')) {
  const kept = new Set(readdirSync(folder))
  const stale = [...reports].filter(
    ([name, text]) => !kept.delete(name) || readFileSync(join(folder, name), 'utf8') !== text,
  )
  const wrong = [...stale.map(([name]) => name), ...kept]
  if (wrong.length > 0) {
    const where = relative(root, folder)
    const names = wrong.join(', ')
    console.error(`what the package exports has changed: npm run api-report writes ${where}, for the review (${names})`)
    process.exit(1)
  }
} else {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of reports) writeFileSync(join(folder, name), text)
}
