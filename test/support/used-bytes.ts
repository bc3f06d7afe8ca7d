import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** The bytes of this process that are in use after everything that nobody needs was collected. */
export function usedBytes(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
