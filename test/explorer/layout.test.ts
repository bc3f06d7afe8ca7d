import { describe, expect, it } from 'vitest'
import { type Box, layOut } from '../../adapters/explorer/page/graph/layout.ts'

function boxes(kind: Box['kind'], names: string): Box[] {
  return names.split('').map((key) => ({ key, kind, height: 32, weight: 1 }))
}

describe('the layout of a graph', () => {
  it('puts every box next to what it is connected with, so that no lines cross that need not', () => {
    const lines = [
      { from: 'a', to: 'Z' },
      { from: 'b', to: 'Y' },
      { from: 'c', to: 'X' },
    ]
    const { places } = layOut([...boxes('identities', 'abc'), ...boxes('services', 'XYZ')], lines)
    const heights = lines.map(({ from, to }) => [places.get(from)?.y, places.get(to)?.y])
    for (const [one, other] of heights) expect(one).toBe(other)
  })

  it('covers no box by another, and has room for all of them', () => {
    const all = [...boxes('identities', 'abcdef'), ...boxes('services', 'XYZ'), ...boxes('edge-routers', '1')]
    const { places, width, height } = layOut(all, [{ from: 'a', to: '1' }])
    const taken = new Set([...places.values()].map(({ x, y }) => `${x} ${y}`))
    expect(taken.size).toBe(all.length)
    for (const { x, y } of places.values()) {
      expect(x).toBeLessThan(width)
      expect(y + 32).toBeLessThan(height)
    }
  })

  it('lays out nothing', () => {
    expect(layOut([], []).places.size).toBe(0)
  })
})
