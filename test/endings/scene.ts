import { Logins } from './logins.ts'
import { PlayedDirectory } from './played-directory.ts'
import type { RouterEar } from './router-ear.ts'
import { PROCESSES, type Process, type ProcessName, startTwo, type TwoProcesses } from './two-processes.ts'
import type { Network, Subject, Way } from './ways.ts'

/** A network in which something is about to end: both processes run, both routers are connected to both. */
export interface Scene {
  readonly two: TwoProcesses
  readonly network: Network
  readonly subject: Subject
  readonly logins: Logins
  readonly directory: PlayedDirectory
  process(name: ProcessName): Process
  /** Takes clients. */
  r1(name: ProcessName): RouterEar
  /** Takes hosts. */
  r2(name: ProcessName): RouterEar
  /** Lets time pass by seconds, as far as sockets carry what follows. */
  elapse(milliseconds: number): Promise<void>
  close(): Promise<void>
}

/** Forks a network for one ending; `startsAt` (epoch ms) is when the subject logs in. */
export async function openScene(network: Network, way: Way, startsAt = network.startsAt): Promise<Scene> {
  const directory = new PlayedDirectory()
  const two = await startTwo(await network.store.fork(), network.pki, startsAt, directory)
  const subject = network.subjects[way]
  for (const name of PROCESSES) {
    for (const router of [network.r1, network.r2]) (await two[name].connect(router)).subscribe()
    two[name].router(network.r1.id).link('link-1', network.r2.id)
  }
  await settle()
  const refused = await two.A.router(network.r2.id).hostItself(subject.dials.serviceId, `of-r2-${way}`)
  if (refused !== undefined) throw new Error(`the router may not host: ${refused}`)
  return {
    two,
    network,
    subject,
    logins: new Logins(network, subject, () => two.now()),
    directory,
    process: (name) => two[name],
    r1: (name) => two[name].router(network.r1.id),
    r2: (name) => two[name].router(network.r2.id),
    elapse: async (milliseconds) => {
      await two.elapse(milliseconds)
      await settle()
    },
    close: () => two.close(),
  }
}

/** Lets whatever is under way between played routers and processes arrive. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 12; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
