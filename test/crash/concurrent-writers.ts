import { type ServedController, textIn } from './served-controller.ts'

/** The knowledge about one name: `open` was asked and not answered, so that either outcome is right. */
export type Known = { readonly state: 'present' | 'absent' | 'open'; readonly version: number }

/** The answers to the writers, by name; a version is the last one that was acknowledged. */
export type Ledger = Map<string, Known>

const WRITERS = 6

/** Called with each acknowledged write. */
type OnAcknowledged = () => void

/**
 * Lets several writers create, change and delete until the process that they write to is gone, noting each answer before the
 * next request. Devices are identities with an enrollment; gateways are tunneler-enabled edge routers. Resolves with how many
 * writes were acknowledged.
 */
export async function writeUntilGone(
  controller: ServedController,
  prefix: string,
  ledger: Ledger,
  onAcknowledged: OnAcknowledged,
): Promise<number> {
  const writers = Array.from({ length: WRITERS }, (_, index) =>
    runWriter(controller, `${prefix}w${index}-`, ledger, onAcknowledged),
  )
  return (await Promise.all(writers)).reduce((a, b) => a + b)
}

async function runWriter(
  { ask }: ServedController,
  prefix: string,
  ledger: Ledger,
  onAcknowledged: OnAcknowledged,
): Promise<number> {
  let acknowledged = 0
  /** Answers undefined when the process is gone: then the outcome stays open. */
  const attempt = async (name: string, after: Known, method: string, path: string, body?: object) => {
    ledger.set(name, { state: 'open', version: ledger.get(name)?.version ?? 0 })
    const answer = await ask(method, path, body).catch(() => undefined)
    if (answer === undefined) return undefined
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer)}`)
    ledger.set(name, after)
    acknowledged += 1
    onAcknowledged()
    return answer
  }
  for (let turn = 0; ; turn += 1) {
    const device = `${prefix}device${turn}`
    const body = { name: device, type: 'Default', isAdmin: false, enrollment: { ott: true } }
    const created = await attempt(device, { state: 'present', version: 0 }, 'POST', '/identities', body)
    if (created === undefined) return acknowledged
    const path = `/identities/${textIn(created.data, 'id')}`
    const changes = { roleAttributes: ['version1'] }
    // A patch that was not answered is decided by the version that is found.
    const changed = await ask('PATCH', path, changes).catch(() => undefined)
    if (changed === undefined) return acknowledged
    ledger.set(device, { state: 'present', version: 1 })
    acknowledged += 1
    const gateway = `${prefix}gateway${turn}`
    const router = { name: gateway, isTunnelerEnabled: true }
    if (!(await attempt(gateway, { state: 'present', version: 0 }, 'POST', '/edge-routers', router))) {
      return acknowledged
    }
    if (turn % 2 === 1 && !(await attempt(device, { state: 'absent', version: 0 }, 'DELETE', path))) {
      return acknowledged
    }
  }
}
