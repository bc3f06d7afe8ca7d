import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import ts from 'typescript'

const root = resolve(import.meta.dirname, '../..')

/** The text of a guide. */
export const textOf = (guide: string) => readFileSync(join(root, 'docs', guide), 'utf8')

/** The programs of a text, each with the path that its fence names. */
export function programsIn(text: string) {
  const blocks = text.matchAll(/^```[jt]s (\S+)\n([\s\S]*?)^```$/gm)
  return [...blocks].map(([, path = '', code = '']) => ({ path, code }))
}

/** The complaints of the compiler about programs, with the types that users of these frameworks install beside them. */
export function complaints(paths: readonly string[]): readonly string[] {
  const types = join(root, 'node_modules/@types')
  const program = ts.createProgram(
    paths.filter((path) => path.endsWith('.ts')),
    {
      target: ts.ScriptTarget.ES2024,
      module: ts.ModuleKind.NodeNext,
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      experimentalDecorators: true,
      types: ['node'],
      typeRoots: [types],
      paths: { express: [join(types, 'express/index.d.ts')] },
    },
  )
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
}
