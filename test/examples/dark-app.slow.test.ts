import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { freePort } from '../support/free-port.ts'

const root = join(import.meta.dirname, '../..')

it('examples/dark-app: two apps on no port, which policies let be reached and which authorize by who calls', async () => {
  const port = await freePort()
  const args = ['--conditions=portcullis-source', 'examples/dark-app/main.ts']
  const env = { ...process.env, PORT: String(port) }
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, env })
  expect(stdout.split('\n')).toEqual([
    `wiki and payroll are hosted; the only port that is open is ${port}`,
    'keeper http://wiki/admin: 200 the settings',
    'keeper http://payroll/: 200 {"salaries":[],"for":"keeper"}',
    'guest http://wiki/: 200 the wiki, for guest',
    'guest http://wiki/admin: 403 Forbidden',
    'guest http://payroll/: SERVICE_NOT_FOUND',
    '',
  ])
}, 60_000)
