// Writes types that follow from declarations out as what they are, in the declarations that the package publishes: an entity
// is an object with its members. Editors and compilers of users of the package then read neither schemas nor how types follow
// from them.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import ts from 'typescript'

/** Levels of members that a type may have. One that has more leads back to itself and cannot be written out. */
const MAX_DEPTH = 12

/** Characters of an object that is written on one line. */
const SHORT = 80

/** How the names of bodies end, by method. */
const BODIES: Readonly<Record<string, string>> = { POST: 'Create', PUT: 'Replace', PATCH: 'Patch' }

/** Alternatives that stand behind all others. */
const LAST: ReadonlySet<string> = new Set(['null', 'undefined'])

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2024,
  lib: ['lib.es2024.d.ts', 'lib.dom.d.ts'],
  types: ['node'],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
}

/** A module whose types are written out. */
export interface FlatModule {
  /** The declaration file that the compiler wrote, which is replaced. */
  readonly file: string
  /** The files whose types are referred to by name, as another module sees them. */
  readonly namesFrom?: readonly { readonly file: string; readonly specifier: string }[]
  /** A generic interface that stays, whose first argument is a route: its arguments are written out. */
  readonly generic?: { readonly name: string; readonly specifier: string }
  /** The name of an interface that several of the module extend: it has the members that two of them have alike. */
  readonly shared?: string
}

/** Replaces declaration files of the compiler by ones whose exported types are written out. Throws for a type that leads back to itself. */
export function flattenDeclarations(modules: readonly FlatModule[]): void {
  const files = modules.flatMap(({ file, namesFrom = [] }) => [file, ...namesFrom.map((one) => one.file)])
  const program = ts.createProgram({ rootNames: files, options: OPTIONS })
  const texts = modules.map((module) => [module.file, new FlatText(program, module).text()] as const)
  for (const [file, text] of texts) writeFileSync(file, text)
}

/**
 * Names the records of resources where declarations derive them: `RecordOf<typeof services>` becomes `ServiceRecord`, so that it
 * leads to no declaration of a resource. `names` is the source that exports the names, `file` what is published of it.
 */
export function nameRecords(folder: string, { names, file }: { readonly names: string; readonly file: string }): void {
  const derived = /export type (\w+) = Flat<RecordOf<(\w+)>>/g
  const records = new Map(
    [...readFileSync(names, 'utf8').matchAll(derived)].map(([, name = '', of = '']) => [of, name]),
  )
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const declaration = join(folder, path)
    if (!path.endsWith('.d.ts') || declaration === file) continue
    const text = readFileSync(declaration, 'utf8')
    const used = new Set<string>()
    const named = text.replace(/\bRecordOf<(?:typeof )?(\w+)>/g, (whole: string, of: string) => {
      const record = records.get(`${of.charAt(0).toUpperCase()}${of.slice(1)}`)
      if (record === undefined || !new RegExp(`\\b${of}\\b[^;]*\\.resource\\.[jt]s`).test(text)) return whole
      used.add(record)
      return `Named${record}`
    })
    if (used.size === 0) continue
    const specifier = relative(dirname(declaration), file).replace(/\.d\.ts$/, '.js')
    const imported = [...used].map((record) => `${record} as Named${record}`)
    writeFileSync(
      declaration,
      `${importOf(imported, specifier.startsWith('.') ? specifier : `./${specifier}`)}\n${named}`,
    )
  }
}

class FlatText {
  readonly #checker: ts.TypeChecker
  readonly #symbols: readonly ts.Symbol[]
  /** By text, and not by type: the compiler makes types that look alike anew. */
  readonly #names = new Map<string, readonly string[]>()
  /** The files that names are imported from, by name. */
  readonly #specifiers = new Map<string, string>()
  readonly #used = new Set<string>()
  readonly #generic: FlatModule['generic']
  readonly #shared: string | undefined

  constructor(program: ts.Program, { file, namesFrom = [], generic, shared }: FlatModule) {
    this.#generic = generic
    this.#shared = shared
    this.#checker = program.getTypeChecker()
    const exportsOf = (path: string) => {
      const source = program.getSourceFile(path)
      const module = source && this.#checker.getSymbolAtLocation(source)
      if (module === undefined) throw new Error(`${path} exports nothing`)
      const symbols = this.#checker.getExportsOfModule(module).map((symbol) => this.#resolved(symbol))
      return symbols.filter(({ flags }) => (flags & ts.SymbolFlags.Type) !== 0)
    }
    this.#symbols = exportsOf(file)
    const imported = namesFrom.flatMap((from) => {
      const symbols = exportsOf(from.file)
      for (const { name } of symbols) this.#specifiers.set(name, from.specifier)
      return symbols
    })
    // A small object is named before the larger ones that hold it, so that their texts name it too.
    const named = [...imported, ...this.#symbols].filter((symbol) => !isGenericSymbol(symbol))
    const sizes = new Map(named.map((symbol) => [symbol, this.#written(this.#typeOf(symbol), 0).length]))
    for (const symbol of named.toSorted((one, other) => (sizes.get(one) ?? 0) - (sizes.get(other) ?? 0))) {
      const text = this.#written(this.#typeOf(symbol), 0)
      if (/^\{| \| /.test(text)) this.#names.set(text, [...(this.#names.get(text) ?? []), symbol.name])
    }
    this.#used.clear()
  }

  text(): string {
    const shared = this.#sharedMembers()
    const declarations = this.#symbols.map((symbol) => {
      const comment = this.#comment(symbol, '')
      // A generic type stays as it is written: it names only what is exported beside it.
      const [declaration] = symbol.declarations ?? []
      if (declaration !== undefined && isGeneric(declaration)) return `${comment}${declaration.getText()}`
      const type = this.#typeOf(symbol)
      if (isInterface(symbol)) {
        const lines = this.#members(type, 0)
        const own = lines.filter((line) => !shared.has(line))
        const base = own.length === lines.length ? '' : ` extends ${this.#shared}`
        return `${comment}export interface ${symbol.name}${base} {\n${own.join('')}}`
      }
      const text = this.#written(type, 0)
      const [first] = this.#names.get(text) ?? []
      const isFirst = first === undefined || first === symbol.name || this.#specifiers.has(first)
      return `${comment}export type ${symbol.name} = ${isFirst ? text : first}`
    })
    const base =
      shared.size === 0
        ? []
        : [
            `/** Members that several of the interfaces below have alike. */\ninterface ${this.#shared} {\n${[...shared].join('')}}`,
          ]
    const specifiers = new Set([...this.#used].flatMap((name) => this.#specifiers.get(name) ?? []))
    const imports = [...specifiers].map((specifier) =>
      importOf([...this.#used].filter((name) => this.#specifiers.get(name) === specifier).sort(), specifier),
    )
    if (this.#generic !== undefined) imports.unshift(importOf([this.#generic.name], this.#generic.specifier))
    return `${[...imports, ...base, ...declarations].join('\n')}\n`
  }

  /** The members, as they are written, that several interfaces of the module have. */
  #sharedMembers(): ReadonlySet<string> {
    if (this.#shared === undefined) return new Set()
    const lines = this.#symbols.filter(isInterface).flatMap((symbol) => this.#members(this.#typeOf(symbol), 0))
    return new Set(lines.filter((line, index) => lines.indexOf(line) !== index))
  }

  #resolved(symbol: ts.Symbol): ts.Symbol {
    return (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : this.#checker.getAliasedSymbol(symbol)
  }

  #typeOf(symbol: ts.Symbol): ts.Type {
    return this.#checker.getDeclaredTypeOfSymbol(symbol)
  }

  /** The name of a type where it has one, or else its text. Of several names it is the one with the ending of `use`. */
  #of(type: ts.Type, depth: number, use = ''): string {
    const names = this.#names.get(this.#written(type, 0)) ?? []
    const name = names.find((one) => one.endsWith(use)) ?? names[0]
    if (name === undefined) return this.#written(type, depth)
    this.#used.add(name)
    return name
  }

  #written(type: ts.Type, depth: number): string {
    if (depth > MAX_DEPTH) throw new Error(`${this.#checker.typeToString(type)} leads back to itself`)
    const element = this.#elementOf(type)
    if (element !== undefined) {
      const text = this.#of(element, depth)
      return `readonly ${/^\w+$/.test(text) || (text.startsWith('{') && !element.isUnion()) ? text : `(${text})`}[]`
    }
    if (type.isUnion()) {
      const texts = this.#alternatives(type).map((member) => this.#of(member, depth))
      // A boolean is a union of two literals.
      const joined = [...new Set(texts)].toSorted((one, other) => Number(LAST.has(one)) - Number(LAST.has(other)))
      return joined.join(' | ').replace('false | true', 'boolean')
    }
    if (this.#generic !== undefined && type.symbol?.name === this.#generic.name) {
      const [route, ...others] = this.#checker.getTypeArguments(type as ts.TypeReference)
      if (route?.isStringLiteral() !== true) throw new Error(`${this.#checker.typeToString(type)} has no route`)
      const use = BODIES[route.value.split(' ')[0] ?? '']
      return `${type.symbol.name}<${[route, ...others].map((argument) => this.#of(argument, depth, use)).join(', ')}>`
    }
    if ((type.flags & ts.TypeFlags.Object) === 0 && !type.isIntersection()) return this.#plain(type)
    return isOfTheLanguage(type) ? this.#plain(type) : this.#object(type, depth)
  }

  /** The types of a union, without the one by which the compiler says that an optional member is missing. */
  #alternatives(type: ts.UnionType): ts.Type[] {
    const isUndefined = ({ flags }: ts.Type) => (flags & ts.TypeFlags.Undefined) !== 0
    return type.types.filter((one) => !isUndefined(one) || one === this.#checker.getUndefinedType())
  }

  #plain(type: ts.Type): string {
    return this.#checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.InTypeAlias)
  }

  /** The type of the elements of a list. */
  #elementOf(type: ts.Type): ts.Type | undefined {
    if (this.#checker.isTupleType(type)) throw new Error('a tuple cannot be written out')
    return this.#checker.isArrayType(type) ? this.#checker.getTypeArguments(type as ts.TypeReference)[0] : undefined
  }

  #object(type: ts.Type, depth: number): string {
    const lines = this.#members(type, depth)
    if (lines.length === 0) return 'Readonly<Record<string, never>>'
    const short = `{ ${lines.map((line) => line.trim()).join('; ')} }`
    const isShort = short.length <= SHORT && !lines.some((line) => line.trimEnd().includes('\n'))
    return isShort ? short : `{\n${lines.join('')}${'  '.repeat(depth)}}`
  }

  /** The members of an object, each with its comment and its end of line. */
  #members(type: ts.Type, depth: number): readonly string[] {
    const indent = '  '.repeat(depth + 1)
    const indexes = this.#checker.getIndexInfosOfType(type).map((info) => {
      return `${indent}readonly [key: ${this.#of(info.keyType, depth + 1)}]: ${this.#of(info.type, depth + 1)}\n`
    })
    const members = type.getProperties().map((member) => {
      const isOptional = (member.flags & ts.SymbolFlags.Optional) !== 0
      const memberType = this.#checker.getTypeOfSymbol(member)
      const name = /^[\w$]+$/.test(member.name) ? member.name : `'${member.name}'`
      return `${this.#comment(member, indent)}${indent}readonly ${name}${isOptional ? '?' : ''}: ${this.#of(memberType, depth + 1)}\n`
    })
    return [...indexes, ...members]
  }

  #comment(symbol: ts.Symbol, indent: string): string {
    const text = ts.displayPartsToString(symbol.getDocumentationComment(this.#checker)).trim()
    if (text === '') return ''
    const lines = text.split('\n')
    return lines.length === 1
      ? `${indent}/** ${text} */\n`
      : `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join('')}${indent} */\n`
  }
}

function importOf(names: readonly string[], specifier: string): string {
  return `import type { ${names.join(', ')} } from '${specifier}'`
}

function isInterface({ flags }: ts.Symbol): boolean {
  return (flags & ts.SymbolFlags.Interface) !== 0
}

function isGenericSymbol({ declarations: [declaration] = [] }: ts.Symbol): boolean {
  return declaration !== undefined && isGeneric(declaration)
}

/** Whether what is declared has type parameters. */
function isGeneric(declaration: ts.Declaration): boolean {
  return ts.isTypeAliasDeclaration(declaration) && declaration.typeParameters !== undefined
}

/** Whether a type is one of the language, such as `Uint8Array`, which everybody has. */
function isOfTheLanguage(type: ts.Type): boolean {
  const [declaration] = type.symbol?.declarations ?? []
  return (
    declaration !== undefined &&
    !type.aliasSymbol &&
    /\/lib\.[\w.]+\.d\.ts$/.test(declaration.getSourceFile().fileName) &&
    type.symbol.name !== '__type'
  )
}
