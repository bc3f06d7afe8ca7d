import { fstatSync } from 'node:fs'
import { startTestServer } from '../../testing/index.ts'
import { defineCommand } from '../command-line/command.ts'
import { UsageError } from '../command-line/usage.ts'
import { withoutMistakes } from './model/model-files.ts'

/** How often is looked whether the parent is still there, in ms. */
const PARENT_LOOK_MS = 500

/** `portcullis test-server`. */
export const TEST_SERVER = defineCommand({
  options: {
    model: { value: 'FILE', summary: 'the network that it begins with; default: an empty one' },
    clock: {
      value: 'live|turned',
      choices: ['live', 'turned'],
      summary: 'whether its clock goes by itself or stands until it is turned; default live',
    },
    port: { value: 'PORT', summary: 'the port of 127.0.0.1 that it is on; default: a free port' },
    router: { summary: 'run an edge router on the same port, by which SDKs dial and host' },
  },
  details: `Prints one line of JSON: url, ca (PEM), admin (username, password, token), invitations (an enrollment token for each identity
of the model) and control, a URL over plain HTTP: POST CONTROL/clock {"elapseMs": 60000}, POST CONTROL/faults {"status": 503,
"route": "POST /sessions"}, DELETE CONTROL/faults, POST CONTROL/invitations {"name": "laptop"}, GET CONTROL/requests, GET
CONTROL/reach?identity=laptop. It is in memory and ends with its parent, or when its standard input ends. Not for production: its
password is known to everybody.`,
  examples: ['portcullis test-server --model net.yaml', 'portcullis test-server --clock turned --router'],
  run: async ({ options, terminal }) => {
    const clock = options.typed('clock') ?? 'live'
    if (clock !== 'live' && clock !== 'turned') throw new UsageError(`--clock takes live or turned, not '${clock}'`)
    const model = options.typed('model')
    const port = portIn(options.typed('port'))
    const over = parentEnds()
    const server = await withoutMistakes(() =>
      startTestServer({ ...(model !== undefined && { model }), clock, port, router: options.flag('router') }),
    )
    terminal.print(JSON.stringify(server.facts))
    await over
    await server.close()
    return 0
  },
})

function portIn(given: string | undefined): number {
  const port = Number(given ?? 0)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new UsageError(`--port takes a port, not '${given}'`)
}

/** Resolves when a signal asks to stop, when the parent is gone, or when a pipe on standard input ends. */
function parentEnds(): Promise<void> {
  const { ppid } = process
  return new Promise((resolve) => {
    const look = setInterval(() => {
      if (process.ppid !== ppid) end()
    }, PARENT_LOOK_MS)
    const end = () => {
      clearInterval(look)
      process.stdin.destroy()
      resolve()
    }
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, end)
    // Only a pipe ends with the parent: /dev/null has ended from the beginning.
    const stdin = fstatSync(0)
    if (stdin.isFIFO() || stdin.isSocket()) process.stdin.resume().once('end', end).once('error', end)
  })
}
