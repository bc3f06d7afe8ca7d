import { type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { httpsFetch } from 'portcullis/node'
import { type Admin, logIn } from '../../examples/traffic/network.ts'
import { portcullis } from '../../test/adapters/cli/cli-process.ts'

/** A controller in a process of its own, and its admin over HTTPS. */
export interface RunningController {
  readonly admin: Admin
  readonly pid: number
  stop(): Promise<void>
}

/** Where a controller keeps its files, and the port of its APIs. */
interface Place {
  readonly folder: string
  readonly port: number
}

/** Where a deployed controller keeps the certificate of its authority, from its folder on. */
export const DEPLOYED_CA = 'pki/root/certs/root.cert'
const ADMIN = { username: 'keeper', password: 'the-keys-of-the-bench' }
const PATIENCE_MS = 120_000

/** Portcullis over SQLite, as `portcullis serve` runs it. */
export async function startPortcullis({ folder, port }: Place): Promise<RunningController> {
  const where = ['--listen', `127.0.0.1:${port}`, '--pki', 'pki', '--storage', 'sqlite:network.db']
  const controller = portcullis(['serve', ...where], {
    cwd: folder,
    variables: { PORTCULLIS_ADMIN_USERNAME: ADMIN.username, PORTCULLIS_ADMIN_PASSWORD: ADMIN.password },
  })
  await controller.ready
  const stop = async () => {
    controller.kill('SIGTERM')
    await controller.ended
  }
  return { admin: await adminAt(port, join(folder, 'pki', 'ca.pem')), pid: controller.pid, stop }
}

/**
 * The controller of the given program over its own file store, with keys like ours: an authority on a curve, and a server key of RSA 2048.
 * Its quickstart would be a cluster of one with RSA 4096.
 */
export async function startDeployed(ziti: string, { folder, port }: Place): Promise<RunningController> {
  const log = openSync(join(folder, 'controller.log'), 'a')
  const env = { ...process.env, HOME: folder }
  const options: SpawnOptions = { cwd: folder, env, stdio: ['ignore', log, log] }
  const authority = ['--pki-root', 'pki', '--ca-name', 'root']
  const named = [...authority, '--private-key-size', '2048', '--spiffe-id', 'controller/bench']
  const { username, password } = ADMIN
  await writeFile(join(folder, 'controller.yml'), deployedConfig(`127.0.0.1:${port}`))
  for (const order of [
    ['pki', 'create', 'ca', ...authority, '--ca-file', 'root', '--curve', 'P256', '--trust-domain', 'bench'],
    ['pki', 'create', 'server', ...named, '--server-file', 'server', '--dns', 'localhost', '--ip', '127.0.0.1'],
    ['pki', 'create', 'client', ...named, '--client-file', 'client', '--key-file', 'server'],
    ['controller', 'edge', 'init', 'controller.yml', '--username', username, '--password', password],
  ]) {
    const { status } = spawnSync(ziti, order, options)
    if (status !== 0) throw new Error(`${order.slice(0, 3).join(' ')} failed: see ${folder}/controller.log`)
  }
  const child = spawn(ziti, ['controller', 'run', 'controller.yml'], options)
  closeSync(log)
  const stop = async () => {
    if (child.exitCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  const deadline = Date.now() + PATIENCE_MS
  for (;;) {
    try {
      const admin = await adminAt(port, join(folder, DEPLOYED_CA))
      return { admin, pid: child.pid ?? 0, stop }
    } catch (error) {
      if (child.exitCode !== null || Date.now() > deadline) {
        await stop()
        throw new Error(`the deployed controller did not come up: see ${folder}/controller.log`, { cause: error })
      }
    }
    await sleep(500)
  }
}

async function adminAt(port: number, caFile: string): Promise<Admin> {
  const fetch = httpsFetch({ ca: await readFile(caFile, 'utf8') })
  const at = (url: string) => url.replace('localhost', `127.0.0.1:${port}`)
  return logIn({ fetch: (request) => fetch(new Request(at(request.url), request)) }, ADMIN)
}

/** The settings of a deployed controller that takes control channels and requests at one address. */
function deployedConfig(address: string): string {
  const file = (path: string) => `pki/root/${path}`
  const apis = ['edge-management', 'edge-client', 'fabric', 'edge-oidc'].map((binding) => ({ binding }))
  const ca = file('certs/root.cert')
  return JSON.stringify({
    v: 3,
    db: 'controller.db',
    identity: {
      cert: file('certs/client.cert'),
      server_cert: file('certs/server.chain.pem'),
      key: file('keys/server.key'),
      ca,
    },
    ctrl: { listener: `tls:${address}`, options: { advertiseAddress: `tls:${address}` } },
    edge: {
      api: { address },
      enrollment: {
        signingCert: { cert: ca, key: file('keys/root.key') },
        edgeIdentity: { duration: '180m' },
        edgeRouter: { duration: '180m' },
      },
    },
    web: [{ name: 'all', bindPoints: [{ interface: address, address }], apis }],
  })
}
