import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { BELOW_SERVICES, floorOf } from './support/floors.ts'

const root = join(import.meta.dirname, '..')

const PROGRAM = `
  import { registerHooks } from 'node:module'
  const loaded = []
  registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context)
      loaded.push(resolved.url)
      return resolved
    },
  })
  await import(process.argv[1])
  console.log(JSON.stringify([...new Set(loaded)]))
`

/** The modules that a fresh process loads for an entry: files of the product by their path, packages and `node:` modules by name. */
async function loadedBy(entry: string): Promise<readonly string[]> {
  const flags = ['--conditions=portcullis-source', '--input-type=module', '--eval', PROGRAM, '--', entry]
  const { stdout } = await promisify(execFile)(process.execPath, flags, { cwd: root })
  const urls: readonly string[] = JSON.parse(stdout)
  return [
    ...new Set(urls.map((url) => (url.startsWith('file:') ? nameOf(relative(root, new URL(url).pathname)) : url))),
  ]
}

function nameOf(path: string): string {
  return /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? path
}

describe('what the root exports', () => {
  it('is written out, each name for a stated use, and fewer than 125 of them', () => {
    const text = readFileSync(join(root, 'src/index.ts'), 'utf8')
    expect(text).not.toMatch(/export (type )?\*/)
    const names = [...text.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, list = '']) =>
      list.split(',').filter((name) => name.trim() !== ''),
    )
    expect(names.length).toBeGreaterThan(80)
    expect(names.length).toBeLessThan(125)
  })
})

describe('what an entry point loads', () => {
  it('portcullis/policy: the rules alone, no package and nothing of Node', async () => {
    const loaded = await loadedBy('portcullis/policy')
    expect(loaded).toContain('src/policy.ts')
    expect(loaded.filter((name) => name !== 'src/policy.ts' && !BELOW_SERVICES.has(floorOf(name)))).toEqual([])
  })

  it('portcullis/storage: the port, what helps to write one, the filters and the declarations of records', async () => {
    const loaded = await loadedBy('portcullis/storage')
    expect(loaded).toContain('src/ports/record-storage.ts')
    expect(loaded.filter((name) => name !== 'src/storage.ts' && !BELOW_SERVICES.has(floorOf(name)))).toEqual(['zod'])
  })

  it('portcullis/storage/contract: no test runner, and of packages what the storage entry loads', async () => {
    const loaded = await loadedBy('portcullis/storage/contract')
    expect(loaded).toContain('adapters/storage/contract/index.ts')
    const outside = loaded.filter(
      (name) => !name.startsWith('adapters/storage/contract/') && !BELOW_SERVICES.has(floorOf(name)),
    )
    expect(outside.toSorted()).toEqual(['node:assert/strict', 'src/storage.ts', 'zod'])
  })

  it('portcullis/memory: neither HTTP nor PKI', async () => {
    const loaded = await loadedBy('portcullis/memory')
    expect(loaded).toContain('src/memory.ts')
    const others = loaded.filter((name) => !name.startsWith('src/platform/memory/'))
    expect(others.filter((name) => ['services', 'operations', 'platform'].includes(floorOf(name)))).toEqual([])
    const outside = loaded.filter((name) => !/^(src|adapters)\//.test(name))
    expect(outside).toEqual(['node:async_hooks'])
  })

  it('portcullis: neither a package nor what a controller is put together from, before one is made', async () => {
    const loaded = await loadedBy('portcullis')
    expect(loaded).toContain('src/front-doors.ts')
    expect(loaded.filter((name) => !name.startsWith('src/'))).toEqual([])
    expect(loaded.filter((name) => ['services', 'rows', 'declarations'].includes(floorOf(name)))).toEqual([
      'src/context/call.ts',
    ])
  })

  it('portcullis/testing: of packages only the one without which nothing works', async () => {
    // Certificates, JSON schemas, TOTP, QR codes, password hashes and tokens are loaded by what first needs them.
    const loaded = await loadedBy('portcullis/testing')
    expect(loaded).toContain('adapters/tools/testing/create-test-controller.ts')
    const outside = loaded.filter((name) => !/^(src|adapters)\//.test(name) && !name.startsWith('node:'))
    expect(outside).toEqual(['zod'])
  })

  it('portcullis/opentelemetry: its peer, and of the product only its version and what checks arguments', async () => {
    const loaded = await loadedBy('portcullis/opentelemetry')
    expect(loaded).toContain('adapters/tools/opentelemetry/index.ts')
    const others = loaded.filter((name) => !/^adapters\/tools\/opentelemetry\/|^src\/base\/arguments\.ts$/.test(name))
    expect(others.toSorted()).toEqual(['@opentelemetry/api', 'src/version.ts'])
  })

  it('portcullis/gateway: beside the SDK its own files, the bounds of connections, and the words of pages', async () => {
    const loaded = await loadedBy('portcullis/gateway')
    expect(loaded).toContain('adapters/web/gateway/gateway.ts')
    const ofSdk = new Set(await loadedBy('portcullis/sdk'))
    const own =
      /^(adapters\/web\/gateway\/|src\/(?:browser-pages|context\/call|concurrency\/|facts\/(?:access|authority|oidc)\/|http\/(?:html|page-style)))/
    const others = loaded.filter((name) => !own.test(name) && !ofSdk.has(name))
    expect(others.toSorted()).toEqual([
      'adapters/network/channel/channel-pair.ts',
      'adapters/network/sdk/in-process-identity.ts',
      'adapters/web/node/tracked-connections.ts',
      'src/base/collections.ts',
      'src/base/members.ts',
    ])
  })

  it('portcullis/hono: nothing of Node, and of the product only what reads a connection and checks arguments', async () => {
    const loaded = await loadedBy('portcullis/hono')
    expect(loaded).toContain('adapters/web/hono/index.ts')
    expect(loaded.filter((name) => name.startsWith('node:'))).toEqual([])
    expect(loaded.filter((name) => /^src\/(?!base\/arguments\.ts$)/.test(name))).toEqual([])
  })
})
