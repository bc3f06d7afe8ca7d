// Runs every benchmark and prints its figures with their ratio to a ceiling measured in the same run: npm run bench
import { cpus } from 'node:os'
import { benchAccessIndex } from './access-index.ts'
import { benchController } from './controller.ts'
import { benchMemoryStorage } from './memory-storage.ts'
import type { BenchRow } from './row.ts'
import { benchScale } from './scale.ts'

function line({ name, value, unit, ceiling, target }: BenchRow): string {
  const ratio = ceiling === undefined ? '' : `  ${(value / ceiling.value).toFixed(2)} x ${ceiling.name}`
  return `${name.padEnd(64)} ${value.toPrecision(3).padStart(10)} ${unit}${ratio}${target ? `  (target ${target})` : ''}`
}

console.log(`Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}`)
for (const bench of [benchController, benchAccessIndex, benchMemoryStorage, benchScale]) {
  for (const row of await bench()) console.log(line(row))
}
