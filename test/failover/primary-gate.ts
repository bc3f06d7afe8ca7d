import { connect, createServer, type Socket } from 'node:net'
import { type Member, type PatroniCluster, statusOf } from './patroni-cluster.ts'

const LOOK_MS = 250

/**
 * Takes connections for the primary, as HAProxy does before Patroni: new ones go to the member that says it is the primary, and
 * those to a member that does not say so any more are closed. The way to a member can be cut: then bytes vanish.
 */
export class PrimaryGate {
  readonly #cluster: PatroniCluster
  readonly #server = createServer((socket) => this.#take(socket))
  readonly #pairs = new Map<string, Set<readonly [Socket, Socket]>>()
  readonly #cut = new Set<string>()
  readonly #looking: ReturnType<typeof setInterval>
  #primary: Member | undefined
  #isLooking = false

  constructor(cluster: PatroniCluster) {
    this.#cluster = cluster
    this.#looking = setInterval(() => void this.#look(), LOOK_MS)
  }

  async listen(): Promise<number> {
    await this.#look()
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    const address = this.#server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  /** Bytes to and from a member vanish from now on, and so do its answers about its role. */
  cut(name: string): void {
    this.#cut.add(name)
    for (const [client, server] of this.#pairs.get(name) ?? []) {
      client.unpipe(server)
      server.unpipe(client)
      client.resume()
      server.resume()
    }
  }

  /** The way to a member is open again, for new connections. */
  mend(name: string): void {
    this.#cut.delete(name)
  }

  close(): void {
    clearInterval(this.#looking)
    this.#server.close()
    for (const name of this.#pairs.keys()) this.#drop(name)
  }

  async #look(): Promise<void> {
    // A member that is held still answers late: looks that overlapped would end in another order than they began.
    if (this.#isLooking) return
    this.#isLooking = true
    const asked = this.#cluster.members.map(async (member) => ({
      member,
      isPrimary: !this.#cut.has(member.name) && (await statusOf(member, 'primary')) === 200,
    }))
    const answers = await Promise.all(asked)
    this.#primary = answers.find(({ isPrimary }) => isPrimary)?.member
    for (const { member, isPrimary } of answers) if (!isPrimary) this.#drop(member.name)
    this.#isLooking = false
  }

  #drop(name: string): void {
    for (const pair of this.#pairs.get(name) ?? []) for (const socket of pair) socket.destroy()
    this.#pairs.delete(name)
  }

  #take(client: Socket): void {
    const primary = this.#primary
    if (primary === undefined) {
      client.destroy()
      return
    }
    const server = connect({ host: '127.0.0.1', port: primary.port })
    const pair = [client, server] as const
    const pairs = this.#pairs.get(primary.name) ?? new Set()
    this.#pairs.set(primary.name, pairs.add(pair))
    const end = () => {
      for (const socket of pair) socket.destroy()
      pairs.delete(pair)
    }
    for (const socket of pair) socket.on('error', end).on('close', end)
    client.pipe(server)
    server.pipe(client)
  }
}
