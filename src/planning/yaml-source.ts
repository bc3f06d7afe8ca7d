import type { Document, LineCounter, Node, Pair, YAMLParseError } from 'yaml'
import { ModelError, type Path, type Place, type Source } from '../model/index.ts'

type Yaml = typeof import('yaml')

/** More anchors would make a small file a large value. */
const MOST_ALIASES = 1000

/** The package that reads and writes YAML, where it is installed. */
export async function yamlPackage(): Promise<Yaml | undefined> {
  try {
    return await import('yaml')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND') return undefined
    throw error
  }
}

/** A text in YAML whose parts have their lines. Throws {@link ModelError} for invalid YAML. */
export function yamlSource(yaml: Yaml, name: string, text: string): Source {
  const lines = new yaml.LineCounter()
  const document = yaml.parseDocument(text, { lineCounter: lines })
  const mistake = (offset: number | undefined, message: string) =>
    new ModelError([{ place: placeAt(name, lines, offset), subject: '', message }])
  // A syntax error makes false errors after it, so only the first is reported.
  const [error] = document.errors
  if (error !== undefined) throw mistake(error.pos[0], syntaxMessage(error, text))
  yaml.visit(document, {
    Alias: (_, alias) => {
      if (alias.resolve(document) !== undefined) return
      throw mistake(startOf(alias), `nothing above is marked &${alias.source}; put a text that begins with * in quotes`)
    },
  })
  return {
    name,
    value: document.toJS({ maxAliasCount: MOST_ALIASES }),
    // A document without contents begins at its first character.
    place: (path) => placeAt(name, lines, offsetOf(yaml, document, path) ?? 0),
  }
}

/** The remedy for an error of the YAML reader, by the beginning of its message. */
const FIXES = [
  ['Tabs', 'indent with spaces'],
  ['Comments', 'put a text that begins with # in quotes'],
  ['Flow', 'close what [ or { opened'],
  ['Sequence item', 'begin the members of one map in the same column, and each item of a list with -'],
  ['All ', 'begin the members of one map in the same column'],
  ['Nested mappings', 'put a text with a colon in quotes'],
  ['Unexpected', 'put a text with special characters in quotes'],
] as const

function syntaxMessage({ code, message, pos }: YAMLParseError, text: string): string {
  if (code === 'MULTIPLE_DOCS') return 'a model file is one document: take out the line ---'
  if (code === 'DUPLICATE_KEY') {
    const key = /^[^:\n]*/.exec(text.slice(pos[0]))?.[0] ?? ''
    return `${key} is there twice in one map: write its values together`
  }
  // The lines after the first draw the place, which is reported already.
  const said = message.split('\n')[0]?.replace(/ at line \d+, column \d+:$/, '') ?? message
  const fix = FIXES.find(([beginning]) => said.startsWith(beginning))?.[1]
  return fix === undefined ? said : `${said}: ${fix}`
}

function placeAt(file: string, lines: LineCounter, offset: number | undefined): Place {
  if (offset === undefined) return { file, line: undefined, column: undefined }
  const { line, col } = lines.linePos(offset)
  return { file, line, column: col }
}

/** Where the part at the end of a path begins: its key in a map, itself in a list; else the last part that is there. */
function offsetOf(yaml: Yaml, document: Document, path: Path): number | undefined {
  let node: unknown = document.contents
  let offset = startOf(node)
  for (const part of path) {
    if (yaml.isMap(node)) {
      const pair: Pair | undefined = node.items.find(({ key }) => keyText(yaml, key) === String(part))
      if (pair === undefined) break
      offset = startOf(pair.key) ?? offset
      node = pair.value
    } else if (yaml.isSeq(node)) {
      node = node.items[Number(part)]
      if (node === undefined) break
      offset = startOf(node) ?? offset
    } else break
  }
  return offset
}

function keyText(yaml: Yaml, key: unknown): string {
  return String(yaml.isScalar(key) ? key.value : key)
}

function startOf(node: unknown): number | undefined {
  const range = typeof node === 'object' && node !== null ? (node as Partial<Node>).range : undefined
  return range?.[0]
}
