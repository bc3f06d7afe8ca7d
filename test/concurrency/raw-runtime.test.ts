import { expect, it } from 'vitest'
import { rawUses, usesIn } from '../../scripts/raw-runtime.ts'

it.each([
  'const at = Date.now()',
  'const now = options.now ?? Date.now',
  'const at = new Date().toISOString()',
  'const at = performance.now()',
  'const timer = setTimeout(work, 10)',
  'this.#timer = setInterval(() => this.#look(), 10)',
  'setImmediate(work)',
  "import { setTimeout as sleep } from 'node:timers/promises'",
  'const delay = 10 * Math.random()',
  "import { randomUUID } from 'node:crypto'",
  'const secret = randomBytes(16)',
  'crypto.getRandomValues(new Uint8Array(16))',
  'process.nextTick(work)',
  'const signal = AbortSignal.timeout(10)',
])('finds that a network asks the host past its runtime: %s', (text) => {
  expect(usesIn('a.ts', text)).toEqual([{ path: 'a.ts', line: 1, text }])
})

it.each([
  '  // As Date.now() would say.',
  ' * `setImmediate(work)` of Node',
  "hint: 'such as Date.now()'",
  'socket.setTimeout(0)',
  '  setTimeout(milliseconds: number): this {',
  'const at = new Date(instant)',
])('leaves what asks nothing: %s', (text) => {
  expect(usesIn('a.ts', text)).toEqual([])
})

it('is nowhere in the code of a network', () => {
  expect(rawUses()).toEqual([])
})
