import { readdir, stat } from 'node:fs/promises'
import type { Controller, ControllerFetch, PlainAnswer, PlainFetch } from '../../../../../src/index.ts'
import { descriptorLimit } from '../examine-runtime.ts'

/** Descriptors that have to be free for the process to take connections and to open files. */
const SPARE_DESCRIPTORS = 32
/** Ms between two looks at the descriptors. */
const DESCRIPTORS_LOOK_MS = 5000

/** Combines the figures of this process with those of others that answer at the same port. */
export type CombineMetrics = (own: string) => Promise<string>

/** A controller that also reports its process, and the function that ends the checks of the process. */
export interface ToldProcess {
  readonly controller: Controller
  stop(): void
}

/**
 * Makes the probes of a controller report the process as well: `/readyz` is 503 while hardly a descriptor is left, which `tell` logs, and
 * `/metrics` shows the number of open descriptors, with the figures of the other processes of `combine`.
 */
export function withProcessState(
  controller: Controller,
  { combine, tell }: { readonly combine: CombineMetrics | undefined; readonly tell: (line: string) => void },
): ToldProcess {
  const { fetch } = controller
  const { plain } = fetch
  if (plain === undefined) return { controller, stop: () => undefined }
  const told: PlainFetch = async (request, connection) => {
    const answer = await plain(request, connection)
    if (request.method !== 'GET' || answer.status !== 200) return answer
    switch (new URL(request.url).pathname) {
      case '/readyz':
        return ready(answer)
      case '/metrics': {
        const own = `${answer.body}${await descriptorFigures()}`
        return { ...answer, body: (await combine?.(own)) ?? own }
      }
      default:
        return answer
    }
  }
  const both: ControllerFetch = Object.assign((...request: Parameters<typeof fetch>) => fetch(...request), {
    plain: told,
  })
  const watched = new Proxy(controller, {
    get: (target, name) => (name === 'fetch' ? both : Reflect.get(target, name)),
  })
  return { controller: watched, stop: watchDescriptors(tell) }
}

/** The figures of this process alone, as another process asks for them. */
export async function ownMetrics({ fetch }: Pick<Controller, 'fetch'>): Promise<string> {
  const answer = await fetch(new Request('https://localhost/metrics'))
  return answer.status === 200 ? `${await answer.text()}${await descriptorFigures()}` : ''
}

interface Descriptors {
  readonly open: number
  readonly limit: number
}

/** The descriptors of this process; undefined where the system does not report them. */
async function descriptors(): Promise<Descriptors | undefined> {
  const limit = await descriptorLimit()
  if (limit === undefined) return undefined
  try {
    const { size } = await stat('/proc/self/fd')
    // Before Linux 6.2 it is 0.
    return { limit, open: size > 0 ? size : (await readdir('/proc/self/fd')).length }
  } catch {
    // To look takes a descriptor itself.
    return { limit, open: limit }
  }
}

function areOut({ open, limit }: Descriptors): boolean {
  return open + SPARE_DESCRIPTORS > limit
}

async function ready(answer: PlainAnswer): Promise<PlainAnswer> {
  const found = await descriptors()
  if (found === undefined || !areOut(found)) return answer
  return { ...answer, status: 503, body: `${found.open} of ${found.limit} file descriptors are in use\n` }
}

async function descriptorFigures(): Promise<string> {
  const found = await descriptors()
  if (found === undefined) return ''
  return `# HELP process_open_fds File descriptors that are open.
# TYPE process_open_fds gauge
process_open_fds ${found.open}
# HELP process_max_fds File descriptors that may be open.
# TYPE process_max_fds gauge
process_max_fds ${found.limit}
`
}

/** Says when hardly a descriptor is left, and when there are some again. */
function watchDescriptors(tell: (line: string) => void): () => void {
  let wereOut = false
  const look = async () => {
    const found = await descriptors()
    if (found === undefined || areOut(found) === wereOut) return
    wereOut = !wereOut
    const state = `${found.open} of ${found.limit} file descriptors are in use`
    tell(wereOut ? `warning: ${state}: connections cannot be taken` : `${state}: there are enough again`)
  }
  const looking = setInterval(() => void look(), DESCRIPTORS_LOOK_MS).unref()
  return () => clearInterval(looking)
}
