import { execFileSync, spawn } from 'node:child_process'
import { openSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { enroll } from 'portcullis/sdk'
import { type Admin, logIn } from '../../examples/traffic/network.ts'
import { freePorts } from '../../examples/traffic/web.ts'
import { httpsClient } from './https-fetch.ts'

/** A network of a deployed controller and its router, with the identities `laptop` (role `clients`) and `box` (role `hosts`). */
export class DeployedNetwork {
  readonly folder: string
  readonly #ziti: string
  readonly #port: number
  readonly #process: ReturnType<typeof spawn>

  private constructor(ziti: string, folder: string, port: number, process: ReturnType<typeof spawn>) {
    this.#ziti = ziti
    this.folder = folder
    this.#port = port
    this.#process = process
  }

  static async open(ziti: string): Promise<DeployedNetwork> {
    const folder = await mkdtemp(join(tmpdir(), 'portcullis-deployed-'))
    const [port = 0, routerPort = 0] = await freePorts(2)
    const log = openSync(join(folder, 'quickstart.log'), 'a')
    const at = ['--ctrl-address', '127.0.0.1', '--router-address', '127.0.0.1']
    const ports = ['--ctrl-port', String(port), '--router-port', String(routerPort)]
    const env = homeIn(folder)
    const args = ['edge', 'quickstart', '--home', join(folder, 'home'), ...at, ...ports]
    const child = spawn(ziti, args, { env, stdio: ['ignore', log, log] })
    const network = new DeployedNetwork(ziti, folder, port, child)
    await network.#eventually('edge', 'login', `https://127.0.0.1:${port}`, '-u', 'admin', '-p', 'admin', '-y')
    for (const [name, role] of [
      ['laptop', 'clients'],
      ['box', 'hosts'],
    ] as const) {
      network.run('edge', 'create', 'identity', name, '-a', role, '-o', network.file(`${name}.jwt`))
      const identity = await enroll(readFileSync(network.file(`${name}.jwt`), 'utf8'))
      await writeFile(network.file(`${name}.json`), JSON.stringify(identity))
    }
    const all = ['--edge-router-roles', '#all']
    network.run('edge', 'create', 'edge-router-policy', 'everybody', ...all, '--identity-roles', '#all')
    await network.untilOnline()
    return network
  }

  file(name: string): string {
    return join(this.folder, name)
  }

  /** The management API of the controller, as its admin. */
  admin(): Promise<Admin> {
    const { fetch } = httpsClient({ port: this.#port })
    const send = async ({ url, method, headers, body }: Request) => {
      const { pathname, search } = new URL(url)
      const sent = body === null ? {} : { body: await new Response(body).text() }
      return fetch(`${pathname}${search}`, { method, headers: Object.fromEntries(headers), ...sent })
    }
    return logIn({ fetch: send }, { username: 'admin', password: 'admin' })
  }

  /** Runs the program in a home of its own. Throws when it fails. */
  run(...args: readonly string[]): string {
    const env = homeIn(this.folder)
    return execFileSync(this.#ziti, args, { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 }).toString()
  }

  /** Starts the program in the same home. */
  start(name: string, ...args: readonly string[]): ReturnType<typeof spawn> {
    const log = openSync(this.file(`${name}.log`), 'a')
    return spawn(this.#ziti, args, { env: homeIn(this.folder), stdio: ['ignore', log, log] })
  }

  /** A service that `box` hosts and `laptop` dials, by certain routers. */
  service(name: string, encryption: 'ON' | 'OFF', routers = '#all', ...more: readonly string[]): void {
    this.run('edge', 'create', 'service', name, '-a', name, '--encryption', encryption, ...more)
    for (const [type, role] of [
      ['Dial', '#clients'],
      ['Bind', '#hosts'],
    ] as const) {
      const roles = ['--service-roles', `#${name}`, '--identity-roles', role]
      this.run('edge', 'create', 'service-policy', `${name}-${type}`, type, ...roles)
    }
    const roles = ['--edge-router-roles', routers, '--service-roles', `#${name}`]
    this.run('edge', 'create', 'service-edge-router-policy', name, ...roles)
  }

  /** Waits for a router, or for any one. */
  async untilOnline(router?: string): Promise<void> {
    const named = router === undefined ? [] : [`name="${router}"`]
    for (let tries = 0; tries < 60; tries += 1) {
      const listed = this.run('edge', 'list', 'edge-routers', ...named, '-j')
      if (/"isOnline":\s*true/.test(listed)) return
      await sleep(1000)
    }
    throw new Error(`the router ${router ?? ''} did not come online: see ${this.file('quickstart.log')}`)
  }

  async close(): Promise<void> {
    this.#process.kill('SIGKILL')
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 })
  }

  /** Runs the program again until it goes well. */
  async #eventually(...args: readonly string[]): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      try {
        this.run(...args)
        return
      } catch (error) {
        if (tries > 60) throw error
        await sleep(1000)
      }
    }
  }
}

function homeIn(folder: string) {
  return { ...process.env, HOME: folder, ZITI_CONFIG_DIR: folder, ZITI_HOME: folder }
}
