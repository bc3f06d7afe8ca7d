import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { apiDocuments, VERSION } from 'portcullis'
import { createTestController, type TestController } from 'portcullis/testing'
import 'portcullis/testing/vitest'
import { describe, expect, it } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { node } from './support/quickstart.ts'

const root = resolve(import.meta.dirname, '../..')
const readme = readFileSync(resolve(root, 'README.md'), 'utf8')

describe('README.md', () => {
  it('embeds a controller with code that runs as it stands', async () => {
    const [, code = ''] = /```ts\n([\s\S]*?)```/.exec(readme) ?? []
    const port = await freePort()
    const run = spawnSync(node.path, [...node.args, '--input-type=module-typescript', '-'], {
      cwd: root,
      input: code,
      encoding: 'utf8',
      env: { ...process.env, PORT: String(port) },
    })
    expect(run.stderr).toBe('')
    expect(run.stdout).toBe(`https://127.0.0.1:${port} offers wiki\n`)
    expect(run.status).toBe(0)
  })

  it('tests a network with code that runs as it stands', async () => {
    const [, block = ''] = /```ts\n(import 'portcullis\/testing\/vitest'[\s\S]*?)```/.exec(readme) ?? []
    const imports = [...block.matchAll(/^import .*'(.*)'.*$/gm)].map(([, name]) => name)
    expect(imports).toEqual(['portcullis/testing/vitest', 'portcullis/testing', 'vitest'])
    const code = block.replaceAll(/^import .*$/gm, '')
    const run: unknown = new Function(
      'createTestController',
      'expect',
      `return (async () => {${code}; return [net, copy] })()`,
    )
    const made = await (run as (...given: unknown[]) => Promise<TestController[]>)(createTestController, expect)
    expect(await made[1]?.reach('laptop')).toEqual({ dial: [], bind: [] })
    for (const net of made) await net.close()
  })

  it.each([...readme.matchAll(/\]\((?!https:)([^)]+)\)/g)].map(([, path]) => [String(path)]))(
    'links to %s, which exists',
    (path) => expect(readFileSync(resolve(root, path), 'utf8')).not.toBe(''),
  )

  it.each([...readme.matchAll(/`(portcullis(?:\/\w+)?)`/g)].map(([, entry]) => [String(entry)]))(
    'names the entry point %s, which the package exports',
    (entry) => {
      const { name, exports } = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8'))
      expect(Object.keys(exports)).toContain(entry.replace(name, '.'))
    },
  )

  it.each(operationsByTable())('lists operations of the %s API that are served: %s', async (api, path) => {
    expect(Object.keys((await apiDocuments(VERSION))[api].paths ?? {})).toContain(path)
  })
})

/** The paths in the tables of the status: those of both APIs, of the client API, of the management API. */
function operationsByTable() {
  const [, status = ''] = readme.split('## What works in')
  const [shared = [], client = [], management = []] = status
    .split('| Topic |')
    .slice(1)
    .map((table) =>
      [
        ...table
          .split('\n\n', 1)
          .join()
          .matchAll(/`(\/[^`]+)`/g),
      ].map(([, path]) => String(path)),
    )
  return [
    ...[...shared, ...client].map((path) => ['client', path] as const),
    ...[...shared, ...management].map((path) => ['management', path] as const),
  ]
}
