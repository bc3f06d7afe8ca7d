import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { portcullis } from './cli-process.ts'

const root = join(import.meta.dirname, '../../..')
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portcullis-new-'))
})
afterAll(() => rm(folder, { recursive: true }))

const run = (...args: readonly string[]) => portcullis(['new', ...args], { cwd: folder }).ended

describe('portcullis new', () => {
  it('writes a project whose files import each other where they stand', async () => {
    const { code, stdout } = await run('my-network', '--template', 'dark-app')
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('  cd my-network\n  npm install\n  npm test\n  npm start'),
    ])
    const names = ['.gitignore', 'README.md', 'package.json', 'tsconfig.json']
    const programs = ['app.test.ts', 'app.ts', 'main.ts', 'network.test.ts', 'network.ts']
    expect((await readdir(join(folder, 'my-network'))).toSorted()).toEqual([...names, ...programs].toSorted())
    expect(await readFile(join(folder, 'my-network/main.ts'), 'utf8')).toContain("from './network.ts'")
    const manifest = JSON.parse(await readFile(join(folder, 'my-network/package.json'), 'utf8'))
    expect(Object.values({ ...manifest.dependencies, ...manifest.devDependencies })).not.toContain(undefined)
    expect(Object.keys(manifest.dependencies)).toEqual(['kysely', 'portcullis', 'yaml'])
  })

  it('refuses a folder that is not empty, a name of no package, and an unknown template', async () => {
    await mkdir(join(folder, 'full'))
    await writeFile(join(folder, 'full/mine.txt'), '')
    expect(await run('full')).toMatchObject({ code: 2, stderr: expect.stringContaining("'full' is not empty") })
    expect(await readdir(join(folder, 'full'))).toEqual(['mine.txt'])
    expect(await run('My Net')).toMatchObject({ code: 2, stderr: expect.stringContaining("'My Net' is no name") })
    const unknown = await run('other', '--template', 'nest')
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('--template takes express, hono') })
    expect(await readdir(folder)).not.toContain('other')
  })

  it('has templates whose tests pass', async () => {
    const flags = ['--conditions=portcullis-source', '--test', 'examples/templates/*/*.test.ts']
    const { stdout } = await promisify(execFile)(process.execPath, flags, { cwd: root })
    expect(stdout).toMatch(/pass 2\b[\s\S]*fail 0\b/)
  })
})
