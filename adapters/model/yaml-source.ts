import type { Document, LineCounter, Node, Pair } from 'yaml'
import { ModelError, type Path, type Place, type Source } from '../../src/model/index.ts'

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

/** A text in YAML, each part of which knows its line. Throws {@link ModelError} for what is no YAML. */
export function yamlSource(yaml: Yaml, name: string, text: string): Source {
  const lines = new yaml.LineCounter()
  const document = yaml.parseDocument(text, { lineCounter: lines })
  if (document.errors.length > 0) {
    throw new ModelError(
      document.errors.map(({ message, pos }) => ({
        place: placeAt(name, lines, pos[0]),
        subject: '',
        // The lines after the first draw the place, which is told already.
        message: message.split('\n')[0]?.replace(/ at line \d+, column \d+:$/, '') ?? message,
      })),
    )
  }
  return {
    name,
    value: document.toJS({ maxAliasCount: MOST_ALIASES }),
    place: (path) => placeAt(name, lines, offsetOf(yaml, document, path)),
  }
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
