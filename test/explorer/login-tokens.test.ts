import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PAGE_STYLE } from '../../src/browser-pages.ts'

const TOKENS = join(import.meta.dirname, '../../adapters/tools/explorer/page/style/tokens.css')

/** The values of a stylesheet by their names. */
function valuesIn(style: string): ReadonlyMap<string, string> {
  return new Map([...style.matchAll(/(--[\w-]+): ([^;]+);/g)].map(([, name = '', value = '']) => [name, value]))
}

describe('the pages of a login', () => {
  it('have the colours and measures of the explorer, in both schemes', async () => {
    const [, light = '', dark = ''] = /:root \{([^}]+)\}[^{]+\{\s*:root \{([^}]+)\}/.exec(PAGE_STYLE) ?? []
    const [lightly, darkly] = [valuesIn(light), valuesIn(dark)]
    expect(lightly.size).toBeGreaterThan(9)
    const explorer = valuesIn(await readFile(TOKENS, 'utf8'))
    for (const [name, value] of lightly) {
      const both = darkly.has(name) ? `light-dark(${value}, ${darkly.get(name)})` : value
      expect([name, explorer.get(name)]).toEqual([name, both])
    }
    expect([...darkly.keys()].filter((name) => !lightly.has(name))).toEqual([])
  })
})
