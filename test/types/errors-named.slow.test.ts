import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { errorReach } from '../support/error-reach.ts'
import { publicMethods } from '../support/public-methods.ts'

const ROOT = join(import.meta.dirname, '../..')
const { options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile).config,
  ts.sys,
  ROOT,
)
const FRONT_DOOR = join(ROOT, 'src/engine/engine.ts')
const program = ts.createProgram([FRONT_DOOR], options)
const methods = publicMethods(program, FRONT_DOOR, 'ControllerEngine')
const engine = methods.find(({ name }) => name === 'ControllerEngine.explain')?.node.parent

/** The codes that a comment names with `@throws {ControllerError} CODE`. */
function namedBy(node: ts.Node): readonly string[] {
  const comments = ts.getJSDocCommentsAndTags(node).map((comment) => comment.getText())
  return comments.flatMap((text) =>
    [...text.matchAll(/@throws \{ControllerError\} ([A-Z_]+)/g)].map(([, code = '']) => code),
  )
}

/** Codes that the source seems to throw and no caller gets: service policies can be created. */
const UNREACHED: Readonly<Record<string, readonly string[]>> = {
  'AccessRequestService.approve': ['METHOD_NOT_ALLOWED'],
}

describe('what a method of the engine may throw', () => {
  const common = engine === undefined ? [] : namedBy(engine)

  it('is told once where it is the same for all', () => {
    expect(common.toSorted()).toEqual([
      'CAN_NOT_DELETE_REFERENCED_ENTITY',
      'COULD_NOT_PARSE_BODY',
      'COULD_NOT_VALIDATE',
      'REQUEST_ENTITY_TOO_LARGE',
      'UNAUTHORIZED',
    ])
  })

  it('stands in its comment, by code: what its code and all that it calls may throw', { timeout: 120_000 }, () => {
    const codesOf = errorReach(program)
    const thrown = methods.map(({ name, node }) => ({ name, node, codes: codesOf(node) }))
    expect(thrown.filter(({ codes }) => codes.length > 0).length).toBeGreaterThan(80)
    const unnamed = thrown.flatMap(({ name, node, codes }) => {
      const named = [...common, ...namedBy(node), ...(UNREACHED[name] ?? [])]
      const missing = codes.filter((code) => !named.includes(code))
      return missing.length === 0 ? [] : [`${name}: ${missing.join(', ')}`]
    })
    expect(unnamed).toEqual([])
  })
})
