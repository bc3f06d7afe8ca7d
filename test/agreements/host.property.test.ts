import fc from 'fast-check'
import type { HostedService, ServiceConnection } from 'portcullis/sdk'
import { createTestController, type RoutedDevice } from 'portcullis/testing'
import { expect, it } from 'vitest'
import { NETWORK_MODEL } from '../sdk/network-model.ts'
import { patience, runs } from '../support/property-runs.ts'
import { MortalIdentity } from './mortal-identity.ts'
import { anyFaultAt, faultsAt } from './placed-fault.ts'

const MINUTE_MS = 60_000
/** Steps by which a host, its controller and its router come to agree. */
const AGREEMENTS = ['connect', 'send', '/sessions', '/services', '/authenticate', '/oidc/oauth/token']
const anyFault = anyFaultAt(AGREEMENTS)
const anyDeed = fc.constantFrom('loses its router', 'loses its session', 'waits', 'waits long', 'starts again')
const anySessions = fc.constantFrom('api-session', 'bearer')

type Deed = 'loses its router' | 'loses its session' | 'waits' | 'waits long' | 'starts again'

const { edgeRouterPolicies: _own, serviceEdgeRouterPolicies: _policies, ...model } = NETWORK_MODEL

/** A host that may die, and starts again and hosts. */
class MortalHost {
  readonly mortal: MortalIdentity
  #hosted: HostedService | undefined

  constructor(mortal: MortalIdentity) {
    this.mortal = mortal
  }

  /** Hosts where the process does not yet; answers how that ended. */
  async host(): Promise<unknown> {
    const identity = await this.mortal.identity()
    if (this.#hosted !== undefined && !this.mortal.isNew) return 'done'
    this.#hosted = undefined
    return this.mortal.outcome(
      identity
        .host('plain', (connection: ServiceConnection) => {
          connection.on('error', () => undefined)
          connection.end('served')
        })
        .then((hosted) => {
          this.#hosted = hosted
          this.mortal.isNew = false
        }),
    )
  }

  async does(deed: Deed): Promise<void> {
    const { mortal } = this
    if (deed === 'loses its router') mortal.loseRouters()
    if (deed === 'starts again') mortal.kill()
    if (deed === 'waits') await mortal.elapse(MINUTE_MS)
    if (deed === 'waits long') await mortal.elapse(25 * MINUTE_MS)
    if (deed === 'loses its session') {
      const { admin } = mortal.net
      const { data } = await admin.call('GET /api-sessions', { query: { limit: 100 } })
      for (const { id, identity } of data) {
        if (identity?.name === 'mortal') await admin.call('DELETE /api-sessions/{id}', { params: { id } })
      }
    }
  }
}

/** Dials the host; answers how that ended. */
function served(mortal: MortalIdentity, laptop: RoutedDevice): Promise<unknown> {
  const dialed = laptop.dial('plain').then(async (connection) => {
    connection.on('error', () => undefined)
    for await (const piece of connection) expect(String(piece)).toBe('served')
  })
  return mortal.outcome(dialed)
}

it(
  'a host is reached again, whatever message, request or way to its router fails, hangs or is its last',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        anySessions,
        fc.array(anyDeed, { minLength: 1, maxLength: 4 }),
        fc.array(anyFault, { minLength: 1, maxLength: 4 }),
        async (sessions, deeds, faults) => {
          const net = await createTestController({ router: true, model })
          const mortal = await MortalIdentity.atRouter(net, sessions, ['hosts'])
          const laptop = await net.enroll('laptop', { roleAttributes: ['clients'] })
          try {
            const host = new MortalHost(mortal)
            mortal.faultOf = faultsAt(faults)
            for (const deed of deeds) {
              await host.host()
              await host.does(deed)
            }
            mortal.faultOf = () => undefined
            await mortal.elapse(5 * MINUTE_MS)
            expect(await host.host()).toBe('done')
            // The router may have let go of it a moment ago.
            if ((await served(mortal, laptop)) !== 'done') await mortal.elapse(MINUTE_MS)
            expect(await served(mortal, laptop)).toBe('done')
          } finally {
            await mortal.close()
          }
        },
      ),
      runs(200, 2),
    )
  },
  patience(600_000),
)
