import { expect, it } from 'vitest'
import { runTraffic } from '../../examples/traffic/traffic.ts'
import { findZiti } from '../../examples/traffic/ziti.ts'

const ziti = findZiti()

if (ziti === undefined) {
  console.warn('SKIPPED: no real router was tried, because there is no `ziti` on the path and ZITI names none')
}

it.skipIf(ziti === undefined)(
  'real routers and tunnelers carry traffic, over a link too, and revoking a policy cuts it within two seconds',
  async () => {
    const { cutAfterMs, othersWentOn } = await runTraffic(ziti ?? '', (line) => console.log(line))
    expect(cutAfterMs).toBeLessThan(2000)
    expect(othersWentOn).toBe(true)
  },
  180_000,
)
