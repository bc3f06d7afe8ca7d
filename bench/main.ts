// Runs the benchmarks, or those named, and prints figures with their ratio to a ceiling measured in the same run:
//   npm run bench            npm run bench -- controller access            npm run bench -- wire:service,updates
// Rows are printed as they come. What follows a colon are the parts of a benchmark that are run, where it has parts.
import { cpus } from 'node:os'
import { benchAccessIndex } from './access-index.ts'
import { benchAudit } from './audit.ts'
import { benchController } from './controller.ts'
import { benchCredentials } from './credentials.ts'
import { benchDataplane } from './dataplane.ts'
import { benchDelays } from './delays.ts'
import { benchDeployed } from './deployed.ts'
import { benchDials } from './dials.ts'
import { benchFabric } from './fabric.ts'
import { benchGateway } from './gateway.ts'
import { benchGuard } from './guard.ts'
import { benchHolds } from './holds.ts'
import { benchMemoryStorage } from './memory-storage.ts'
import { benchMillion } from './million.ts'
import { benchPaper } from './paper.ts'
import { benchPorts } from './ports.ts'
import type { BenchRow } from './row.ts'
import { benchScale } from './scale.ts'
import { benchSqlStorage } from './sql-storage.ts'
import { benchThroughput } from './throughput.ts'
import { benchWaits } from './waits.ts'
import { benchWire } from './wire.ts'

type Bench = (parts?: readonly string[]) => Promise<readonly BenchRow[]> | AsyncIterable<BenchRow>

const BENCHES = new Map<string, Bench>([
  ['controller', benchController],
  ['access', benchAccessIndex],
  ['credentials', benchCredentials],
  ['memory', benchMemoryStorage],
  ['sql', benchSqlStorage],
  ['audit', benchAudit],
  ['waits', benchWaits],
  ['scale', benchScale],
  ['holds', benchHolds],
  ['fabric', benchFabric],
  ['deployed', benchDeployed],
  ['dials', benchDials],
  ['dataplane', benchDataplane],
  ['throughput', benchThroughput],
  ['gateway', benchGateway],
  ['delays', benchDelays],
  ['wire', benchWire],
  ['million', benchMillion],
  ['paper', benchPaper],
  ['ports', benchPorts],
  ['guard', benchGuard],
])

function line({ name, value, unit, ceiling, target, longestHoldMs, details }: BenchRow): string {
  const ratio = ceiling === undefined ? '' : `  ${(value / ceiling.value).toFixed(2)} x ${ceiling.name}`
  const hold = longestHoldMs === undefined ? '' : `  holds the loop ${longestHoldMs.toFixed(1)} ms`
  const more = details === undefined ? '' : `\n    ${details}`
  return `${name.padEnd(64)} ${value.toPrecision(3).padStart(10)} ${unit}${hold}${ratio}${target ? `  (target ${target})` : ''}${more}`
}

const named = process.argv.slice(2).map((argument) => argument.split(':')[0] ?? '')
const rowsOf = new Map(
  process.argv.slice(2).map((argument) => [argument.split(':')[0], argument.split(':')[1]?.split(',')]),
)
const unknown = named.filter((name) => !BENCHES.has(name))
if (unknown.length > 0) {
  console.error(`there is no benchmark ${unknown.join(', ')}: choose among ${[...BENCHES.keys()].join(', ')}`)
  process.exit(2)
}
// It takes minutes, and compares with a commit that is unpacked for it: it runs where it is asked for.
const ONLY_NAMED = ['guard']
console.log(`Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}`)
for (const [name, bench] of BENCHES) {
  if (named.length > 0 ? !named.includes(name) : ONLY_NAMED.includes(name)) continue
  console.log(`\n${name}`)
  for await (const row of await bench(rowsOf.get(name))) console.log(line(row))
}
