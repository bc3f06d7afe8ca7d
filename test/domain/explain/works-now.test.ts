import { explanationText } from 'portcullis'
import type { AccessFacts, WireFacts } from 'portcullis/policy'
import { describe, expect, it } from 'vitest'
import { explained, NOW, router, WIRE_OBSTACLES } from './facts.ts'

const WORKS: WireFacts = { obstacle: undefined, hostRouters: [router('r3', false)], lastFailure: null }

const saysOf = (change: Partial<AccessFacts>) =>
  explanationText(explained(change))
    .split('\n')
    .filter((line) => /^(It works|It does not work|The last dial)/.test(line))

describe('whether what is allowed works now', () => {
  const rows = [
    ['not-allowed', { policies: [], wire: WORKS }, 'it is not allowed'],
    [
      'all-common-edge-routers-offline',
      { identityRouters: [router('r1', false)], wire: WORKS },
      "their common edge routers are offline ('router r1')",
    ],
    ['no-terminators', {}, 'the service has no terminator that is dialed without the name of an instance'],
    ['hosts-may-not-bind', {}, 'the identities that host the service may not bind it now'],
    ['no-online-terminators', {}, "the routers of its terminators are offline ('router r3')"],
    ['no-terminators-here', {}, "the routers of its terminators are connected to other controllers only ('router r3')"],
    ['no-path', {}, "no links lead from 'router r1' to a router of its terminators ('router r3')"],
  ] as const

  it('is held up by one of a closed list, each with a row below', () => {
    expect(rows.map(([obstacle]) => obstacle)).toEqual(WIRE_OBSTACLES)
  })

  it.each(rows)('%s', (obstacle, change, says) => {
    const onTheWay = obstacle === 'not-allowed' || obstacle === 'all-common-edge-routers-offline' ? undefined : obstacle
    const facts = { wire: { ...WORKS, obstacle: onTheWay }, ...change }
    expect(explained(facts).wire).toMatchObject({ worksNow: false, obstacle })
    expect(saysOf(facts)).toEqual([`It does not work now: ${says}.`])
  })

  it('works where nothing does, and says why the last dial failed all the same', () => {
    const lastFailure = { at: NOW, reason: 'no-path', cause: null, router: null } as const
    const facts = { wire: { ...WORKS, lastFailure } }
    expect(explained(facts).wire).toMatchObject({ worksNow: true, obstacle: null, lastFailure })
    expect(saysOf(facts)).toEqual([
      'It works now.',
      'The last dial failed on 2026-01-01T00:00:00.000Z: no links led to a router of the terminators.',
    ])
  })

  it('names no routers of terminators where those are no edge routers', () => {
    expect(saysOf({ wire: { ...WORKS, obstacle: 'no-online-terminators', hostRouters: [] } })).toEqual([
      'It does not work now: the routers of its terminators are offline.',
    ])
  })

  it('is not told where nothing is known of the data plane', () => {
    expect(explained().wire).toBeNull()
    expect(saysOf({})).toEqual([])
  })
})
