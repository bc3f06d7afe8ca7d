import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** How `portcullis` is started: from its sources in a clone, as it was built in the installed package. */
function programArguments(): readonly string[] {
  const root = dirname(createRequire(import.meta.url).resolve('portcullis/package.json'))
  const source = join(root, 'adapters/tools/cli/main.ts')
  if (existsSync(source)) return ['--conditions=portcullis-source', source]
  return [join(root, 'dist/adapters/tools/cli/main.js')]
}

export const ADMIN = { username: 'keeper', password: 'a-secret-of-mine' } as const

/** One `portcullis serve` process of the cluster, on a storage (`sqlite:` or `postgres:`) and the certificates in a directory. */
export async function startMember(directory: string, storage: string) {
  const args = [...programArguments(), 'serve', '--listen', '127.0.0.1:0']
  const child = spawn(process.execPath, [...args, '--pki', 'pki', '--storage', storage], {
    cwd: directory,
    env: {
      PATH: process.env.PATH ?? '',
      PORTCULLIS_ADMIN_USERNAME: ADMIN.username,
      PORTCULLIS_ADMIN_PASSWORD: ADMIN.password,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  const port = await new Promise<number>((resolve, reject) => {
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (more: string) => {
      text += more
      const found = / at https:\/\/\S+:(\d+),/.exec(text)
      if (found !== null) resolve(Number(found[1]))
    })
    ended.then(() => reject(new Error(`a member ended before it was ready: ${text}`)), reject)
  })
  return {
    port,
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
