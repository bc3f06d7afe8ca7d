import { randomBytes } from 'node:crypto'
import type { ControlPlane } from '../../../../src/index.ts'
import { type OpenControlListener, openControlListener } from '../../../network/fabric/index.ts'
import { ConnectionDropped } from '../faults.ts'
import { planeOver, streamsOver } from './over-path.ts'
import type { TestPaths } from './test-network.ts'
import type { RunningProcess } from './test-process.ts'
import { type TestProcesses, withMembers } from './test-processes.ts'

/** The data planes of the controllers of a test. */
interface TestPlanes {
  /** The plane of the first controller that runs, for a server that ends before it does. */
  readonly lent: ControlPlane
  /** The plane that the router reaches: when its controller is gone, that of the next one. */
  readonly reached: ControlPlane
}

/** Opens the data plane of each controller, at each of its starts. */
export async function openPlanes(processes: TestProcesses, paths: TestPaths, router: string): Promise<TestPlanes> {
  const listeners = new Map<string, OpenControlListener>()
  const planeOf = ({ name }: RunningProcess): ControlPlane => {
    const listener = listeners.get(name)
    if (listener === undefined) throw new ConnectionDropped()
    return listener.plane
  }
  const isAlone = processes.names.length === 1
  const dialer = (from: string) => async (address: string) => {
    const other = processes.running.find(({ name }) => addressOf(name) === address)
    const path = other && paths.between(from, other.name)
    if (other === undefined || path === undefined || path.isCut) throw new ConnectionDropped()
    const [stream, theirs] = streamsOver(path)
    const binding = randomBytes(32)
    listeners.get(other.name)?.acceptProcess({ stream: theirs, binding }, undefined)
    return { stream, binding }
  }
  const onKeysChanged = new Set<() => void>()
  await processes.eachStart(async ({ name, controller }) => {
    const dialProcess = isAlone ? undefined : dialer(name)
    const listener = await openControlListener(controller, { addresses: [addressOf(name)], dialProcess })
    listeners.set(name, listener)
    listener.plane.onKeysChanged(() => {
      for (const tell of onKeysChanged) tell()
    })
  })

  const lent = planeBy(() => planeOf(processes.current), onKeysChanged)
  const nearest = () => processes.reachedFrom(router)
  let controllerId = lent.controllerId
  return {
    lent,
    reached: withMembers(
      planeBy(() => planeOf(nearest()), onKeysChanged),
      {
        connect: async (...greeting) => {
          const process = nearest()
          const plane = planeOf(process)
          controllerId = plane.controllerId
          return planeOver(paths.between(router, process.name), plane).connect(...greeting)
        },
        get controllerId() {
          return controllerId
        },
      } satisfies Partial<ControlPlane>,
    ),
  }
}

function addressOf(controller: string): string {
  return `tls:${controller}.test:6262`
}

/** The plane that `plane` answers at each call. Its users do not close it. */
function planeBy(plane: () => ControlPlane, onKeysChanged: Set<() => void>): ControlPlane {
  return {
    get controllerId() {
      return plane().controllerId
    },
    get proofs() {
      return plane().proofs
    },
    verify: async (...socket) => plane().verify(...socket),
    admit: async (...socket) => plane().admit(...socket),
    connect: async (...greeting) => plane().connect(...greeting),
    serveProcess: (channel, address) => plane().serveProcess(channel, address),
    ownRouter: async (request) => plane().ownRouter(request),
    log: (event, facts) => plane().log(event, facts),
    onKeysChanged: (listener) => {
      onKeysChanged.add(listener)
      return () => void onKeysChanged.delete(listener)
    },
    startSession: async (identity) => plane().startSession(identity),
    moveTo: (addresses) => plane().moveTo(addresses),
    close: async () => undefined,
  }
}
