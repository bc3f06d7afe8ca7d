import { loadNativeStreams } from '../../adapters/network/sdk/streams/native-streams.ts'
import type { BenchRow } from '../row.ts'
import { byOwnWindows, type CarriedService } from './carriers.ts'
import { besides, inTurns } from './in-turns.ts'
import type { MeasuredProcess } from './measured-process.ts'
import { stream } from './workloads.ts'

type Member = Parameters<typeof byOwnWindows>[0]

const STREAMS = [1, 8]
const MEGABYTES = 64

/**
 * The cost of encryption from end to end over TLS and one router: an encrypted service beside a plain one. Both ends are in this process,
 * and its processor time counts as well as that of the router.
 */
export async function* rowsOfEncryption(
  [client, host]: readonly [Member, Member],
  router: MeasuredProcess,
  services: { readonly plain: CarriedService; readonly encrypted: CarriedService },
): AsyncGenerator<BenchRow> {
  const process = withThisProcess(router)
  const plain = { name: 'plain', process, carrier: await byOwnWindows(client, host, services.plain) }
  const encrypted = { name: 'ours', process, carrier: await byOwnWindows(client, host, services.encrypted) }
  const library = (await loadNativeStreams()) === undefined ? 'libsodium in WebAssembly' : 'sodium-native'
  for (const streams of STREAMS) {
    const outcomes = await inTurns([plain, encrypted], (subject) => stream(subject, streams, MEGABYTES))
    const name = `processor time of a MB, encrypted from end to end by ${library}, ${streams} streams, ends counted`
    yield besides({ name, ceiling: 'plain', target: 'at most twice the plain' }, outcomes, (one) => one.cpuMsPerMb)
  }
  for (const { carrier } of [plain, encrypted]) await carrier.close()
}

function withThisProcess(other: MeasuredProcess): MeasuredProcess {
  return {
    ...other,
    cpuMs: async () => {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1000 + (await other.cpuMs())
    },
  }
}
