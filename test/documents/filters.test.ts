import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { expectError } from '../contract/http/errors.ts'
import { adminOf, create, type ForeignClient } from '../contract/http/foreign-client.ts'
import { mount } from '../support/mount.ts'

const DOCUMENT = readFileSync(new URL('../../docs/filters.md', import.meta.url), 'utf8')

/** The blocks of code that begin with a word and a path. */
function blocks(word: string): readonly { readonly about: string; readonly lines: readonly string[] }[] {
  const found = DOCUMENT.matchAll(new RegExp(`^\`\`\`${word}(?: (.*))?\n([^]*?)^\`\`\`$`, 'gm'))
  return Array.from(found, ([, about = '', text = '']) => ({ about, lines: text.trimEnd().split('\n') }))
}

/** Makes the network of the page, in which `@` and a path name what was made before. */
async function makeNetwork(admin: ForeignClient): Promise<void> {
  const [network] = blocks('json network')
  const steps: readonly [string, { readonly name?: string }][] = JSON.parse(network?.lines.join('\n') ?? '')
  const ids = new Map<string, string>()
  for (const [path, body] of steps) {
    const text = JSON.stringify(body).replaceAll(/"@(\/[^"]+)"/g, (_, made) => JSON.stringify(ids.get(made)))
    ids.set(`${path}/${body.name}`, await create(admin, path, JSON.parse(text)))
  }
}

const ask = (admin: ForeignClient, path: string, filter: string) =>
  admin.get(`${path}?filter=${encodeURIComponent(filter)}`)

it('every filter of the document finds what it says', async () => {
  const admin = await adminOf(await mount())
  await makeNetwork(admin)
  const asked = blocks('filter').flatMap(({ about, lines }) => lines.map((line) => ({ path: about, line })))
  expect(asked.length).toBeGreaterThan(30)
  for (const { path, line } of asked) {
    const [filter = '', expected = ''] = line.split('→').map((part) => part.trim())
    const { status, text, body } = await ask(admin, path, filter)
    expect(status, `${line} ${text}`).toBe(200)
    const names: readonly string[] = body.data.map(
      (found: { name?: string; address?: string }) => found.name ?? found.address,
    )
    const isOrdered = /sort by/.test(filter)
    expect((isOrdered ? names : names.toSorted()).join(' '), line).toBe(expected)
  }
})

it('and what it calls an error is one', async () => {
  const admin = await adminOf(await mount())
  for (const { about, lines } of blocks('filter-error')) {
    for (const filter of lines) expectError(await ask(admin, about, filter), 'INVALID_FILTER')
  }
})
