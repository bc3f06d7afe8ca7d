import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')

function sources(folder: string): { path: string; text: string }[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => ({ path: join(folder, name), text: readFileSync(join(root, folder, name), 'utf8') }))
}

const product = [...sources('src'), ...sources('adapters')]

describe('the code base', () => {
  it('reads the clock nowhere in the rules and services: `now` is an argument or a port', () => {
    const readers = [...sources('src/domain'), ...sources('src/engine')]
      .filter(({ text }) => /Date\.now\(|new Date\(\)|performance\.now\(/.test(text))
      .map(({ path }) => path)
    expect(readers).toEqual([])
  })

  it('keeps files small: half of them below 100 lines, nine of ten below 250, none above 400', () => {
    const lengths = product.map(({ text }) => text.split('\n').length).sort((a, b) => a - b)
    const quantile = (share: number) => lengths[Math.ceil(lengths.length * share) - 1] ?? 0
    expect(quantile(0.5)).toBeLessThanOrEqual(100)
    expect(quantile(0.9)).toBeLessThanOrEqual(250)
    expect(quantile(1)).toBeLessThanOrEqual(400)
  })

  it('writes in one place: nothing but the door of writes calls the write of the storage', () => {
    const writers = sources('src').filter(({ text }) => /\bstorage\b[^\n]*\.write\(/i.test(text))
    expect(writers.map(({ path }) => path)).toEqual(['src/engine/context/writes.ts'])
    const holders = sources('src').filter(({ text }) =>
      /\b(?:Writable|Write)Storage\b|Pick<Storage, [^>]*'write'/.test(text),
    )
    expect(holders.map(({ path }) => path)).toEqual([])
  })

  it('calls the engine in one way: HTTP asks its methods and reaches for nothing behind them', () => {
    const reaching = sources('src/http').filter(({ text }) => /engine\.context|\{ context[ ,}].*= engine/.test(text))
    expect(reaching.map(({ path }) => path)).toEqual([])
  })

  it('gives no type up', () => {
    const given = product.filter(({ text }) => /(:|<|\|) *any\b|\bas any\b|@ts-ignore|@ts-nocheck/.test(text))
    expect(given.map(({ path }) => path)).toEqual([])
  })
})
