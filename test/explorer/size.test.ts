import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { bundleExplorer } from '../../scripts/bundle-explorer.ts'

describe('the bundle of the explorer', () => {
  it('loads in less than 92 kB gzipped before anything is opened, and in less than 117 kB with all that is loaded on demand', async () => {
    const sizes = [...(await bundleExplorer())].map(([name, file]) => ({ name, bytes: gzipSync(file).length }))
    const sum = (some: typeof sizes) => some.reduce((all, { bytes }) => all + bytes, 0)
    const isOnDemand = ({ name }: { name: string }) => name.startsWith('chunks/') || name === 'forms.json'
    expect(sum(sizes.filter((one) => !isOnDemand(one)))).toBeLessThan(92_000)
    expect(sum(sizes)).toBeLessThan(117_000)
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
      'shared-HASH.js',
      'page-HASH.js',
    ])
  })
})
