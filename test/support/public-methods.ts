import ts from 'typescript'

/** A method that everybody with a value of the class can call. */
export interface PublicMethod {
  /** `Class.method` */
  readonly name: string
  readonly node: ts.MethodDeclaration
}

/** The classes that a class extends. */
function basesOf(checker: ts.TypeChecker, one: ts.ClassDeclaration): readonly ts.ClassDeclaration[] {
  return (one.heritageClauses ?? [])
    .flatMap(({ types }) => [...types])
    .flatMap(({ expression }) => checker.getTypeAtLocation(expression).symbol?.declarations ?? [])
    .filter((base) => ts.isClassDeclaration(base))
    .filter((base) => !base.getSourceFile().isDeclarationFile)
}

/** The public methods of a class that a module exports, and of the classes that its public members are of. */
export function publicMethods(program: ts.Program, module: string, className: string): readonly PublicMethod[] {
  const checker = program.getTypeChecker()
  const source = program.getSourceFile(module)
  const exported = source && checker.getSymbolAtLocation(source)
  const found = exported && checker.getExportsOfModule(exported).find(({ name }) => name === className)
  const first = found && (found.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(found) : found)
  const classes: ts.ClassDeclaration[] = (first?.declarations ?? []).filter(ts.isClassDeclaration)
  const methods: PublicMethod[] = []
  for (const one of classes) {
    classes.push(...basesOf(checker, one))
    for (const member of one.members) {
      if (member.name === undefined || ts.isPrivateIdentifier(member.name)) continue
      if (ts.isMethodDeclaration(member)) {
        methods.push({ name: `${one.name?.text}.${member.name.getText()}`, node: member })
      } else if (ts.isPropertyDeclaration(member)) {
        for (const declared of checker.getTypeAtLocation(member).symbol?.declarations ?? []) {
          const isOurs = ts.isClassDeclaration(declared) && !declared.getSourceFile().isDeclarationFile
          if (isOurs && !classes.includes(declared)) classes.push(declared)
        }
      }
    }
  }
  return methods
}
