import ts from 'typescript'

type Body = ts.FunctionLikeDeclaration

/** Reports whether a catch clause has a throw anywhere: it may let an error go on. */
function throwsAgain(node: ts.Node): boolean {
  return ts.isThrowStatement(node) || ts.forEachChild(node, (child) => throwsAgain(child) || undefined) === true
}

/** The expressions that a block returns without waiting for them. */
function unawaited(node: ts.Node): readonly ts.Node[] {
  if (ts.isReturnStatement(node)) {
    return node.expression === undefined || ts.isAwaitExpression(node.expression) ? [] : [node.expression]
  }
  const found: ts.Node[] = []
  ts.forEachChild(node, (child) => void found.push(...unawaited(child)))
  return found
}

/** Answers for a function which codes of `ControllerError` it may throw: those that it makes, and all that it calls. */
export function errorReach(program: ts.Program): (node: Body) => readonly string[] {
  const checker = program.getTypeChecker()
  const known = new Map<Body, { readonly codes: Set<string>; readonly calls: Set<Body> }>()

  /** Code that runs by a name: functions with a body, classes that are made. Ports have none. */
  function bodiesOf(name: ts.Node): readonly Body[] {
    const found = checker.getSymbolAtLocation(name)
    const symbol = found && found.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(found) : found
    return (symbol?.declarations ?? []).flatMap((declared) => {
      if (declared.getSourceFile().isDeclarationFile) return []
      if (ts.isClassDeclaration(declared)) return declared.members.filter(ts.isConstructorDeclaration)
      const holds = ts.isVariableDeclaration(declared) || ts.isPropertyAssignment(declared)
      const body = holds ? declared.initializer : declared
      return body !== undefined && ts.isFunctionLike(body) && 'body' in body && body.body !== undefined
        ? [body as Body]
        : []
    })
  }

  function codesIn(made: ts.NewExpression): readonly string[] {
    const [code] = made.arguments ?? []
    if (code === undefined || made.expression.getText() !== 'ControllerError') return []
    const type = checker.getTypeAtLocation(code)
    return (type.isUnion() ? type.types : [type]).flatMap((one) => (one.isStringLiteral() ? [one.value] : []))
  }

  function factsOf(body: Body) {
    const facts = known.get(body) ?? { codes: new Set<string>(), calls: new Set<Body>() }
    if (known.has(body)) return facts
    known.set(body, facts)
    const visit = (node: ts.Node): void => {
      if (ts.isTryStatement(node) && node.catchClause !== undefined && !throwsAgain(node.catchClause)) {
        // The errors of the block go no further, but for those of promises that it returns without waiting.
        for (const part of [...unawaited(node.tryBlock), node.catchClause, node.finallyBlock]) {
          if (part !== undefined) visit(part)
        }
        return
      }
      if (ts.isNewExpression(node)) for (const code of codesIn(node)) facts.codes.add(code)
      if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
        const callee = ts.isPropertyAccessExpression(node.expression) ? node.expression.name : node.expression
        // A function that is handed on by its name is called by whom it is handed to.
        const handed = (node.arguments ?? []).filter(ts.isIdentifier)
        for (const name of [callee, ...handed]) for (const called of bodiesOf(name)) facts.calls.add(called)
      }
      ts.forEachChild(node, visit)
    }
    if (body.body !== undefined) visit(body.body)
    return facts
  }

  return (node) => {
    const reached = new Set<Body>([node])
    const codes = new Set<string>()
    for (const body of reached) {
      const facts = factsOf(body)
      for (const code of facts.codes) codes.add(code)
      for (const called of facts.calls) reached.add(called)
    }
    return [...codes].sort()
  }
}
