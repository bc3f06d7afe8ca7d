import { randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { styleText } from 'node:util'
import { quoted, visible, visibleLine } from '../../../src/base/text.ts'
import type { PkiStatus } from '../../../src/index.ts'
import { type Environment, UsageError } from './command-line/usage.ts'

/** How a text stands out on a terminal. */
export type StyleName = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

/** Gives a text a style; the text as it is where it is not read on a terminal. */
export type Style = (name: StyleName, text: string) => string

/** Where a command writes. Answers go to standard output, everything else to standard error. */
export interface Terminal {
  /** For standard output: plain unless it is a terminal with colours and `NO_COLOR` is not set. */
  readonly style: Style
  /** Writes to standard output, with a line end; control characters are written out, as `\\u001b`. */
  print(text: string): void
  /** Writes one line to standard error. */
  tell(message: string): void
  /** Shows progress in one line that the next call replaces; on a terminal only. */
  progress(message: string): void
  /**
   * Asks for a secret without an echo of the input; undefined without a user to ask, because standard input or standard error is no
   * terminal.
   */
  readonly askSecret: ((question: string) => Promise<string>) | undefined
  /** Takes the line of {@link Terminal.progress} away. */
  endProgress(): void
}

/** The part of a stream that shows whether it is a terminal. */
type Stream = Pick<NodeJS.WriteStream, 'isTTY' | 'write'>

/** Standard input, output and error. */
export interface Streams {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly out: Stream
  readonly error: Stream
}

/** The terminal of this process, or a test's substitute. */
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
 * Styles as unguessable words until they are written. Text of others is printed without control characters, and cannot ask for a style
 * either.
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

/** Writes one line to standard error, which takes all output except answers. */
export function tell(message: string): void {
  console.error(`portcullis: ${visibleLine(message).trim()}`)
}

/** Asks on a terminal for a line that is not shown. Throws {@link UsageError} when the answer is broken off. */
function askSecret(
  question: string,
  input: NodeJS.ReadableStream,
  output: Pick<NodeJS.WriteStream, 'write'>,
): Promise<string> {
  output.write(question)
  // Readline echoes the input to its output: this output shows nothing.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input, output: nowhere, terminal: true })
  return new Promise((resolve, reject) => {
    let answer: string | undefined
    lines.on('SIGINT', () => lines.close())
    lines.once('line', (line) => {
      answer = line
      lines.close()
    })
    lines.once('close', () => {
      output.write('\n')
      if (answer === undefined) reject(new UsageError('nothing was entered'))
      else resolve(answer)
    })
  })
}

/** Holders of certificates that need attention, with the first names. */
type DueHolders = PkiStatus['due']['outstanding']

/** Reports whether no certificate needs a look. */
export function isEmpty({ identities, routers }: DueHolders): boolean {
  return identities + routers === 0
}

/** `3 identities and 2 routers ('r1', 'r2', 'a', 'b', 'c')`. */
export function holdersOf({ identities, routers, names }: DueHolders): string {
  const counts = [
    ...(identities > 0 ? [`${identities} ${identities === 1 ? 'identity' : 'identities'}`] : []),
    ...(routers > 0 ? [`${routers} ${routers === 1 ? 'router' : 'routers'}`] : []),
  ]
  const rest = identities + routers - names.length
  return `${counts.join(' and ')} (${names.map(quoted).join(', ')}${rest > 0 ? ` and ${rest} more` : ''})`
}
