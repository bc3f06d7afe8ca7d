import type { ControllerProcess, MortalNetwork } from './mortal-network.ts'

/** Two processes over one store, each of which is started again by its owner when it died. */
export class MortalPair {
  readonly network: MortalNetwork
  readonly processes: (ControllerProcess | undefined)[] = [undefined, undefined]

  constructor(network: MortalNetwork) {
    this.network = network
  }

  /** The process of a place; undefined where it could not begin now. */
  async at(place: number): Promise<ControllerProcess | undefined> {
    const known = this.processes[place]
    if (known !== undefined && !known.life.isDead) return known
    this.processes[place] = await this.network.start()
    return this.processes[place]
  }

  async settled(place: number): Promise<ControllerProcess> {
    const process = await this.at(place)
    if (process === undefined) throw new Error('a process without faults did not begin')
    return process
  }

  kill(): void {
    for (const process of this.processes) if (process !== undefined) process.life.isDead = true
  }
}
