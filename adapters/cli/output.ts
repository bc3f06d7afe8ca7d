import { randomUUID } from 'node:crypto'
import { styleText } from 'node:util'
import { visible, visibleLine } from '../../../src/domain/visible-text.ts'
import type { Environment } from '../settings/setting.ts'
import { askSecret } from './ask-secret.ts'
import { tell } from './tell.ts'

/** How a text stands out on a terminal. */
export type StyleName = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

/** Gives a text a style; the text as it is where it is not read on a terminal. */
export type Style = (name: StyleName, text: string) => string

/** Where a command writes. Answers go to standard output, everything else to standard error. */
export interface Terminal {
  /** For standard output: plain unless that is a terminal that shows colours and nobody set `NO_COLOR`. */
  readonly style: Style
  /** Writes to standard output, with a line end; control characters are written out, as `\\u001b`. */
  print(text: string): void
  /** Writes one line to standard error. */
  tell(message: string): void
  /** Shows how far something is, in one line that the next call replaces; on a terminal only. */
  progress(message: string): void
  /**
   * Asks for a secret and shows nothing of what is typed; undefined where nobody can be asked, because standard input or
   * standard error is no terminal.
   */
  readonly askSecret: ((question: string) => Promise<string>) | undefined
  /** Takes the line of {@link Terminal.progress} away. */
  endProgress(): void
}

/** The part of a stream that tells whether people read it. */
type Stream = Pick<NodeJS.WriteStream, 'isTTY' | 'write'>

/** Standard input, output and error. */
export interface Streams {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly out: Stream
  readonly error: Stream
}

/** The terminal of this process, or what a test puts in its place. */
export function openTerminal({ input, out, error }: Streams, environment: Environment): Terminal {
  const hasColours = showsColours(out, environment)
  const styles = hasColours ? secretStyles() : undefined
  const showsProgress = error.isTTY && environment.TERM !== 'dumb'
  let isProgressing = false
  const endProgress = () => {
    if (isProgressing) error.write('\r\u001b[K')
    isProgressing = false
  }
  return {
    style: (name, text) => styles?.mark(name, text) ?? text,
    print: (text) => {
      endProgress()
      const shown = visible(text)
      out.write(`${styles?.applied(shown) ?? shown}\n`)
    },
    tell: (message) => {
      endProgress()
      tell(message)
    },
    progress: (message) => {
      if (!showsProgress) return
      error.write(`\r\u001b[K${visibleLine(message)}`)
      isProgressing = true
    },
    askSecret: input.isTTY && error.isTTY ? (question) => askSecret(question, input, error) : undefined,
    endProgress,
  }
}

/**
 * Styles as words that nobody can guess until they are written: what others typed is printed without any control character,
 * and cannot ask for a style either.
 */
function secretStyles() {
  const secret = randomUUID()
  const asked = new RegExp(`${secret}:(\\w+):`, 'g')
  const sequences = new Map<string, string>()
  const word = (name: string, sequence: string) => {
    sequences.set(name, sequence)
    return `${secret}:${name}:`
  }
  return {
    mark(name: StyleName, text: string): string {
      const [begin = '', end = ''] = styleText(name, '\0', { validateStream: false }).split('\0')
      return `${word(name, begin)}${text}${word(`${name}End`, end)}`
    },
    applied: (text: string) => text.replace(asked, (_, name: string) => sequences.get(name) ?? ''),
  }
}

/** Whether a stream is a terminal with colours; `NO_COLOR` with any text but an empty one turns them off. */
function showsColours({ isTTY }: Stream, { NO_COLOR = '', TERM }: Environment): boolean {
  return isTTY && NO_COLOR === '' && TERM !== 'dumb'
}
