import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { bundleExplorer } from '../../scripts/bundle-explorer.ts'

describe('the bundle of the explorer', () => {
  it('loads in less than 110 kB gzipped, what is loaded on demand included', async () => {
    const files = [...(await bundleExplorer()).values()]
    const bytes = files.reduce((sum, file) => sum + gzipSync(file).length, 0)
    expect(bytes).toBeLessThan(110_000)
  })

  it('has no script or style in its document, and names no other host', async () => {
    const files = await bundleExplorer()
    const html = new TextDecoder().decode(files.get('index.html'))
    expect(html).not.toMatch(/<style|style=|\son\w+=|<script[^>]*>[^<]/)
    const targets = [...html.matchAll(/(?:src|href)="\.\/([^"]*)"/g)].map(([, target = '']) => target)
    expect(targets.every((target) => files.has(target))).toBe(true)
    expect(targets.map((target) => target.replace(/-[\w-]{8}\./, '-HASH.'))).toEqual([
      'icon.svg',
      'page-HASH.css',
      'page-HASH.js',
    ])
  })
})
