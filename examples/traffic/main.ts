import { runTraffic } from './traffic.ts'
import { findZiti } from './ziti.ts'

const ziti = findZiti()
if (ziti === undefined) {
  console.error('there is no `ziti` program: put it on the path, or name it in the environment as ZITI')
  process.exitCode = 2
} else {
  const { cutAfterMs, othersWentOn } = await runTraffic(ziti, (line) => console.log(line))
  process.exitCode = cutAfterMs <= 2000 && othersWentOn ? 0 : 1
}
