import { availableParallelism } from 'node:os'
import type { Address } from '../../../node/index.ts'
import type { Setting } from '../../settings/setting.ts'
import { UsageError } from '../../settings/usage-error.ts'

/** What processes share, and what each has of its own. */
interface SharedOptions {
  readonly workers: number
  readonly storage: Setting
  readonly listen: Address
  readonly controlListen: Address | undefined
}

/** Where routers are met. */
interface RouterPorts {
  readonly workers: number
  readonly servesRouters: boolean
  readonly controlListen: Address | undefined
  readonly controlAdvertise: Address | undefined
  readonly controlOthers: readonly Address[]
}

const MOST = 256
const LAST_PORT = 65_535

/** How many processes are to answer: 1 unless asked for, `auto` as many as there are cores. Throws {@link UsageError}. */
export function readWorkers(setting: Setting | undefined): number {
  if (setting === undefined) return 1
  if (setting.value === 'auto') return availableParallelism()
  const count = Number(setting.value)
  if (/^\d{1,3}$/.test(setting.value) && count >= 1 && count <= MOST) return count
  throw new UsageError(`${setting.name} takes auto, or a number from 1 to ${MOST}, not '${setting.value}'`)
}

/** Refuses what several processes cannot do. Throws {@link UsageError}. */
export function requireWorkable({ workers, storage, listen, controlListen }: SharedOptions): void {
  if (workers === 1) return
  if (storage.value === 'memory') {
    throw new UsageError(
      `--workers needs a storage that processes share, which memory is not: ${storage.name} sqlite:FILE or postgres://…`,
    )
  }
  if (controlListen === undefined || controlListen.port === 0) return
  const last = controlListen.port + workers - 1
  if (last > LAST_PORT || (listen.port >= controlListen.port && listen.port <= last)) {
    throw new UsageError(
      `--control-listen with --workers ${workers} takes the ports ${controlListen.port} to ${last}, which have to be free`,
    )
  }
}

/**
 * The options of one worker of several. A router holds a channel to each process that is to lay circuits over it, so each
 * worker has a port of its own for routers: the one of `--control-listen` and those that follow, and tells routers of the
 * others. Without it routers are not served, for who connects to the shared port reaches any worker.
 */
export function optionsOfWorker<Options extends RouterPorts>(options: Options, index: number): Options {
  const { workers, controlListen, controlAdvertise, controlOthers } = options
  const own = { controlListen: controlListen && shifted(controlListen, index), controlAdvertise, controlOthers }
  // Ports that the system chooses are known to nobody else.
  if (controlListen === undefined || controlListen.port === 0) {
    return { ...options, ...own, servesRouters: controlListen !== undefined }
  }
  const first = controlAdvertise ?? controlListen
  const advertised = Array.from({ length: workers }, (_, worker) => shifted(first, worker))
  return {
    ...options,
    ...own,
    servesRouters: true,
    controlAdvertise: advertised[index],
    controlOthers: [...advertised.filter((_, worker) => worker !== index), ...controlOthers],
  }
}

function shifted(address: Address, by: number): Address {
  return address.port === 0 ? address : { ...address, port: address.port + by }
}
