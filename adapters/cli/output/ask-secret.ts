import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { UsageError } from '../settings/usage-error.ts'

/** Asks on a terminal for a line that is not shown. Throws {@link UsageError} when the answer is broken off. */
export function askSecret(
  question: string,
  input: NodeJS.ReadableStream,
  output: Pick<NodeJS.WriteStream, 'write'>,
): Promise<string> {
  output.write(question)
  // Readline echoes what is typed to its output: this one shows nothing.
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
