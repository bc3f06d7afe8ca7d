import { parseArgs } from 'node:util'
import { type Address, isWildcardHost, parseAddress } from 'portcullis/node'

/** How the quickstart was asked to run. */
export interface Options {
  /** End after the story instead of serving on. */
  readonly once: boolean
  readonly help: boolean
  readonly listen: Address
  /** Where devices on this machine reach the controller. */
  readonly reached: Address
}

/** A command line that asks for something that does not exist. */
export class UsageError extends Error {}

export const USAGE = `usage: npm start -- [--once] [--listen HOST:PORT]

  --once               end after the story instead of serving on
  --listen HOST:PORT   where to serve; default 127.0.0.1:1280, or PORTCULLIS_LISTEN from the environment
`

/** Reads the command line and the environment; the command line wins. Throws {@link UsageError}. */
export function readOptions(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Options {
  const { once, help, listen } = parsed(args)
  if (listen !== undefined) return { once, help, ...addresses('--listen', listen) }
  return { once, help, ...addresses('PORTCULLIS_LISTEN', environment.PORTCULLIS_LISTEN || '127.0.0.1:1280') }
}

function parsed(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        once: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
        listen: { type: 'string' },
      },
    })
    return values
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function addresses(option: string, text: string): Pick<Options, 'listen' | 'reached'> {
  const listen = parseAddress(text)
  // Port 0 would be another on each run, and what the story prints is meant to be used again.
  if (listen === undefined || listen.port === 0) {
    throw new UsageError(`${option} takes HOST:PORT with a port from 1 to 65535: got '${text}'`)
  }
  return { listen, reached: isWildcardHost(listen.host) ? { ...listen, host: 'localhost' } : listen }
}
