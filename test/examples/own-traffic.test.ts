import { expect, it } from 'vitest'
import { runOwnTraffic } from '../../examples/traffic/own-traffic.ts'

it('examples/traffic: without another program a file is carried, and revoking a policy cuts what it carried alone', async () => {
  const told: string[] = []
  const { cutAfterMs, othersWentOn } = await runOwnTraffic((line) => told.push(line))
  expect(cutAfterMs).toBeLessThan(2000)
  expect(othersWentOn).toBe(true)
  expect(told.join('\n')).toContain('encrypted from end to end: the file came in')
}, 60_000)
