import { runCluster } from '../cluster/cluster.ts'

const { DATABASE_URL } = process.env
if (DATABASE_URL === undefined) throw new Error('DATABASE_URL is the PostgreSQL database of the cluster: set it')
const { lost, stale } = await runCluster((line) => console.log(line), DATABASE_URL)
process.exitCode = lost + stale === 0 ? 0 : 1
