import { execFile } from 'node:child_process'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

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

/** What a fresh process loads for an entry: files of the product by their path, packages and `node:` modules by name. */
async function loadedBy(entry: string): Promise<readonly string[]> {
  const flags = ['--conditions=portcullis-source', '--input-type=module', '--eval', PROGRAM, '--', entry]
  const { stdout } = await promisify(execFile)(process.execPath, flags, { cwd: root })
  const urls: readonly string[] = JSON.parse(stdout)
  return [
    ...new Set(urls.map((url) => (url.startsWith('file:') ? nameOf(relative(root, new URL(url).pathname)) : url))),
  ]
}

function nameOf(path: string): string {
  return /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? path
}

describe('what an entry point loads', () => {
  it('portcullis/policy: the rules alone, no package and nothing of Node', async () => {
    const loaded = await loadedBy('portcullis/policy')
    expect(loaded).toContain('src/policy.ts')
    expect(loaded.filter((name) => name !== 'src/policy.ts' && !name.startsWith('src/domain/'))).toEqual([])
  })

  it('portcullis/storage: the port, what helps to write one, the filters and the declarations of records', async () => {
    const loaded = await loadedBy('portcullis/storage')
    expect(loaded).toContain('src/ports/storage.ts')
    expect(
      loaded.filter((name) => !/^src\/(storage.ts$|concurrency\/|domain\/|ports\/|resources\/)/.test(name)),
    ).toEqual(['zod'])
  })

  it('portcullis/storage/contract: no test runner, and of packages what the storage entry loads', async () => {
    const loaded = await loadedBy('portcullis/storage/contract')
    expect(loaded).toContain('adapters/storage-contract/index.ts')
    const outside = loaded.filter(
      (name) => !/^(adapters\/storage-contract|src\/(concurrency|domain|ports|resources))\//.test(name),
    )
    expect(outside.toSorted()).toEqual(['node:assert/strict', 'src/storage.ts', 'zod'])
  })

  it('portcullis/memory: neither HTTP nor PKI', async () => {
    const loaded = await loadedBy('portcullis/memory')
    expect(loaded).toContain('adapters/memory/index.ts')
    expect(loaded.filter((name) => /^src\/(http|engine|platform|client)\//.test(name))).toEqual([])
    const outside = loaded.filter((name) => !/^(src|adapters)\//.test(name))
    expect(outside.toSorted()).toEqual(['node:async_hooks', 'zod'])
  })

  it.each(['portcullis', 'portcullis/testing'])(
    '%s: of packages only those without which nothing works',
    async (entry) => {
      // Certificates, JSON schemas, TOTP, QR codes, password hashes and tokens are loaded by what first needs them.
      const loaded = await loadedBy(entry)
      expect(loaded).toContain('src/create-controller.ts')
      const outside = loaded.filter((name) => !/^(src|adapters)\//.test(name) && !name.startsWith('node:'))
      expect(outside.toSorted()).toEqual(['mitt', 'zod'])
    },
  )

  it('portcullis/opentelemetry: its peer, and of the product only its version and what checks arguments', async () => {
    const loaded = await loadedBy('portcullis/opentelemetry')
    expect(loaded).toContain('adapters/opentelemetry/index.ts')
    const others = loaded.filter((name) => !/^(adapters\/opentelemetry|src\/domain\/arguments)\//.test(name))
    expect(others.toSorted()).toEqual(['@opentelemetry/api', 'src/version.ts'])
  })

  it('portcullis/hono: nothing of Node, and of the product only what reads a connection and checks arguments', async () => {
    const loaded = await loadedBy('portcullis/hono')
    expect(loaded).toContain('adapters/hono/index.ts')
    expect(loaded.filter((name) => name.startsWith('node:'))).toEqual([])
    expect(loaded.filter((name) => /^src\/(?!domain\/arguments\/)/.test(name))).toEqual([])
  })
})
