// Runs the benchmarks, or those named, and prints figures with their ratio to a ceiling measured in the same run:
//   npm run bench            npm run bench -- controller access
import { cpus } from 'node:os'
import { benchAccessIndex } from './access-index.ts'
import { benchController } from './controller.ts'
import { benchCredentials } from './credentials.ts'
import { benchFabric } from './fabric.ts'
import { benchMemoryStorage } from './memory-storage.ts'
import type { BenchRow } from './row.ts'
import { benchScale } from './scale.ts'
import { benchSqlStorage } from './sql-storage.ts'

const BENCHES = new Map([
  ['controller', benchController],
  ['access', benchAccessIndex],
  ['credentials', benchCredentials],
  ['memory', benchMemoryStorage],
  ['sql', benchSqlStorage],
  ['scale', benchScale],
  ['fabric', benchFabric],
])

function line({ name, value, unit, ceiling, target, longestHoldMs }: BenchRow): string {
  const ratio = ceiling === undefined ? '' : `  ${(value / ceiling.value).toFixed(2)} x ${ceiling.name}`
  const hold = longestHoldMs === undefined ? '' : `  holds the loop ${longestHoldMs.toFixed(1)} ms`
  return `${name.padEnd(64)} ${value.toPrecision(3).padStart(10)} ${unit}${hold}${ratio}${target ? `  (target ${target})` : ''}`
}

const named = process.argv.slice(2)
const unknown = named.filter((name) => !BENCHES.has(name))
if (unknown.length > 0) {
  console.error(`there is no benchmark ${unknown.join(', ')}: choose among ${[...BENCHES.keys()].join(', ')}`)
  process.exit(2)
}
console.log(`Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}`)
for (const [name, bench] of BENCHES) {
  if (named.length > 0 && !named.includes(name)) continue
  console.log(`\n${name}`)
  for (const row of await bench()) console.log(line(row))
}
