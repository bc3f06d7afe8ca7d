import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
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
export const DEPLOYED_CA = 'pki/root-ca/certs/root-ca.cert'
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

/** The controller of the given program, with an authority and a database of its own. */
export async function startDeployed(ziti: string, { folder, port }: Place): Promise<RunningController> {
  const log = openSync(join(folder, 'controller.log'), 'a')
  const named = ['--ctrl-address', '127.0.0.1', '--ctrl-port', String(port), '--home', folder, '--no-router']
  const who = ['--username', ADMIN.username, '--password', ADMIN.password]
  const env = { ...process.env, HOME: folder, ZITI_HOME: folder, ZITI_CONFIG_DIR: folder }
  const child = spawn(ziti, ['edge', 'quickstart', ...named, ...who], { env, stdio: ['ignore', log, log] })
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
