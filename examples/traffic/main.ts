import { runOwnTraffic } from './own-traffic.ts'
import { runTraffic } from './traffic.ts'
import { findZiti } from './ziti.ts'

const tell = (line: string) => console.log(line)
const ziti = findZiti()
if (ziti === undefined) tell('there is no `ziti` program on the path, and ZITI names none: without it')
const runs = [await runOwnTraffic(tell), ...(ziti === undefined ? [] : [await runTraffic(ziti, tell)])]
process.exitCode = runs.every(({ cutAfterMs, othersWentOn }) => cutAfterMs <= 2000 && othersWentOn) ? 0 : 1
