import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { httpsFetch } from 'portcullis/node'
import { onTestFinished } from 'vitest'
import { freePort } from '../../support/free-port.ts'

const root = join(import.meta.dirname, '../../..')
export const PASSWORD = 'a-long-password'

/** Starts an example as its command does, in a folder of its own, and waits until it says that it listens. */
export async function startExample(example: string) {
  const folder = await mkdtemp(join(tmpdir(), `${example}-example-`))
  const port = await freePort()
  const env = { ...process.env, FOLDER: folder, PORT: String(port), ADMIN_PASSWORD: PASSWORD }
  const flags = ['--conditions=portcullis-source', join(root, 'examples', example, 'main.ts')]
  const child = spawn(process.execPath, flags, { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  })
  await once(child.stdout, 'data')
  const fetch = httpsFetch({ ca: await readFile(join(folder, 'pki/ca.pem'), 'utf8') })
  return { child, folder, baseUrl: `https://localhost:${port}`, fetch }
}

/** Asks it to stop; resolves to its exit code. */
export async function stopped(child: ChildProcess): Promise<unknown> {
  child.kill('SIGTERM')
  const [code] = await once(child, 'exit')
  return code
}
