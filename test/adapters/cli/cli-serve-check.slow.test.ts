import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'

describe('portcullis serve --check', () => {
  const main = join(import.meta.dirname, '../../../adapters/tools/cli/main.ts')
  async function check(text: string, args: readonly string[] = [], environment: Record<string, string> = {}) {
    const place = await mkdtemp(join(tmpdir(), 'portcullis-check-'))
    onTestFinished(() => rm(place, { recursive: true }))
    await writeFile(join(place, 'portcullis.yaml'), text)
    const command = ['--conditions=portcullis-source', main, 'serve', '--check', '--config', 'portcullis.yaml', ...args]
    const { status, stdout, stderr } = spawnSync(process.execPath, command, {
      cwd: place,
      encoding: 'utf8',
      env: { PATH: process.env.PATH ?? '', ...environment },
    })
    return { status, stdout, stderr }
  }

  it('tells what a file, a variable and an option make together', async () => {
    const file = 'listen: 127.0.0.1:1001\nadvertise: file.example:1001\nprobes: true\n'
    const alone = await check(file)
    expect(alone).toMatchObject({ status: 0, stderr: '' })
    expect(alone.stdout).toContain(
      'listens on 127.0.0.1:1001, advertised as file.example:1001, storage sqlite, one process',
    )
    const { stdout } = await check(file, ['--listen', '127.0.0.1:1003'], {
      PORTCULLIS_LISTEN: '127.0.0.1:1002',
      PORTCULLIS_ADVERTISE: 'variable.example:1002',
    })
    expect(stdout).toContain('listens on 127.0.0.1:1003, advertised as variable.example:1002')
  })

  it('looks at the certificates that the file names, in files of their own as well', async () => {
    const parts = ['server-cert', 'server-key', 'ca', 'signing-cert', 'signing-key']
    const { status, stdout } = await check(parts.map((part) => `${part}: ${part}.pem`).join('\n'))
    expect([status, stdout]).toEqual([3, expect.stringContaining('cannot read ca.pem')])
    const some = await check('server-cert: server.pem\n')
    expect([some.status, some.stderr]).toEqual([2, expect.stringContaining('--server-cert needs --server-key')])
  })

  it.each([
    ['lissten: 127.0.0.1:1\n', "portcullis.yaml: there is no option lissten (did you mean 'listen'?)"],
    ['listen: [a, b]\n', 'portcullis.yaml: listen takes a text, not ["a","b"]'],
    ['probes: perhaps\n', 'portcullis.yaml: probes takes true or false, not "perhaps"'],
    ['listen: nowhere\n', 'portcullis.yaml: listen takes HOST:PORT'],
    ['- listen\n', 'portcullis.yaml holds no options'],
    ['listen: "\n', 'portcullis.yaml: '],
  ])('names what is wrong in %j', async (text, problem) => {
    const { status, stderr } = await check(text)
    expect(stderr).toContain(problem)
    expect(status).toBe(2)
  })
})
