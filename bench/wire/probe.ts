// Loaded before a server: tells over the channel of its process, whenever it is asked, how much CPU it has used so far (ms), or
// what it holds (bytes) after the garbage collector has run.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

process.on('message', (message) => {
  if (message === 'cpu') {
    const { user, system } = process.cpuUsage()
    process.send?.({ cpuMs: (user + system) / 1000 })
  } else if (message === 'memory') {
    const { rss } = process.memoryUsage()
    setFlagsFromString('--expose-gc')
    runInNewContext('gc')()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    process.send?.({ resident: rss, alive: heapUsed + arrayBuffers })
  }
})
