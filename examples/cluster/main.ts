import { runCluster } from './cluster.ts'

const { lost, stale } = await runCluster((line) => console.log(line))
process.exitCode = lost + stale === 0 ? 0 : 1
