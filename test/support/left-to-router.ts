import { SignJWT } from 'jose'
import type { FromRouter, ModelEvent, ToRouter } from 'portcullis/fabric'
import type { PostureCheck } from 'portcullis/policy'
import { expect } from 'vitest'
import type { Channel } from '../../adapters/network/channel/channel.ts'
import { channelPair } from '../../adapters/network/channel/channel-pair.ts'
import { processTimer } from '../../adapters/network/channel/conversation.ts'
import { EDGE_HEADER, EDGE_TYPE, edgeMessage, TRUE } from '../../adapters/network/channel/edge-messages.ts'
import { textBytes } from '../../adapters/network/channel/header-values.ts'
import { modelCodec } from '../../adapters/network/fabric/messages/model-codec.ts'
import { EdgeRouter } from '../../adapters/network/router/edge-router.ts'
import { FabricRouter } from '../../adapters/network/router/fabric-router.ts'
import { PlayedEndpoint } from './edge-world.ts'
import { type Issued, issue } from './https-certificates.ts'

const HOUR_MS = 3_600_000
/** How often (ms) a router looks at what time ends. */
const LOOK_MS = 5000

/** A router of ours under a controller that leaves posture to it: whatever the router asks for it gets. */
export class LeftToRouter {
  now = Date.now()
  readonly asked: FromRouter[] = []
  readonly #edge: EdgeRouter
  readonly #controller: { take(message: ToRouter): Promise<FromRouter | undefined> }
  readonly #looks: (() => void)[] = []
  readonly #signer: Issued
  #index = 1
  #circuits = 0
  #terminator = ''

  private constructor(signer: Issued, events: readonly ModelEvent[], isOfOldLine: boolean) {
    this.#signer = signer
    let edge: EdgeRouter | undefined
    const router = new FabricRouter({
      routerId: 'router',
      credentials: () => ({ key: '', clientCert: '', serverCert: '', ca: '' }),
      listeners: [],
      clock: { now: () => performance.now(), timer: () => () => undefined },
      random: Math.random,
      host: (host) => {
        const timer = (ms: number, work: () => void) => {
          if (ms !== LOOK_MS) return processTimer(ms, work)
          this.#looks.push(work)
          return () => undefined
        }
        edge = new EdgeRouter(
          { id: 'router', caPem: '', version: 'v', advertise: '', now: () => this.now, timer },
          host,
        )
        return edge
      },
    })
    const ask = (message: FromRouter) => this.#ask(message)
    this.#controller = router.connected({ id: 'c', judgesPosture: false, isOfOldLine, ask })
    if (edge === undefined) throw new Error('a router without edge')
    this.#edge = edge
    const publicKey = { type: 'public-key', kid: 'k', data: signer.der, usages: ['jwt'] } as const
    const all = [{ action: 'create', entity: publicKey } as const, ...identities(), ...events]
    const state = { type: 'model-state', index: 1, timelineId: 't', subscriptionId: 's' } as const
    void this.#controller.take({ ...state, events: [modelCodec.state(all)] })
  }

  static async open(events: readonly ModelEvent[], isOfOldLine = false): Promise<LeftToRouter> {
    return new LeftToRouter(await issue('signer'), events, isOfOldLine)
  }

  /** Time passes (ms): the router looks at what it ends. */
  elapse(ms: number): void {
    this.now += ms
    for (const look of this.#looks.splice(0)) look()
  }

  change(...events: readonly ModelEvent[]): void {
    this.#index += 1
    const facts = { type: 'model-changes', index: this.#index, previousIndex: this.#index - 1 } as const
    void this.#controller.take({ ...facts, events: modelCodec.changes(events) } as ToRouter)
  }

  way(): Channel {
    const [channel, theirs] = channelPair()
    this.#edge.greet(theirs, { chain: [], remoteAddress: '127.0.0.1', isOfProcess: true })
    return channel
  }

  async connect(identityId: string, claims: Readonly<Record<string, unknown>> = {}): Promise<PlayedEndpoint> {
    const channel = this.way()
    const token = await this.token({ z_t: 'a', z_asid: `session of ${identityId}`, ...claims }, identityId)
    return PlayedEndpoint.open(channel, { id: identityId } as PlayedEndpoint['device'], token, -1)
  }

  token(claims: Readonly<Record<string, unknown>>, sub: string): Promise<string> {
    return new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'k' })
      .setSubject(sub)
      .setAudience('openziti')
      .setIssuedAt(Math.floor(this.now / 1000))
      .setExpirationTime(Math.floor((this.now + HOUR_MS) / 1000))
      .sign(this.#signer.keys.privateKey)
  }

  close(): void {
    this.#edge.close()
  }

  async #ask(message: FromRouter): Promise<ToRouter | undefined> {
    this.asked.push(message)
    if (message.type === 'create-terminator') {
      this.#terminator = message.address
      return { type: 'terminator-created', terminatorId: message.address, startTime: 0n }
    }
    if (message.type !== 'create-circuit') return undefined
    this.#circuits += 1
    const circuitId = `circuit-${this.#circuits}`
    const [address, egress] = [`${circuitId} in`, `${circuitId} out`]
    const common = { circuitId, peerData: new Map<number, Uint8Array>(), tags: new Map<string, string>() }
    await this.#controller.take({
      ...{ ...common, type: 'route', attempt: 1, timeoutMs: 5000 },
      forwards: [
        { srcAddress: address, dstAddress: egress, dstType: 'end' },
        { srcAddress: egress, dstAddress: address, dstType: 'start' },
      ],
      egress: { binding: 'edge', address: egress, destination: this.#terminator, peerData: new Map() },
    })
    return { ...common, type: 'circuit-created', address }
  }
}

function identities(): readonly ModelEvent[] {
  return ['laptop', 'box'].map((id) => ({
    action: 'create',
    entity: {
      ...{ type: 'identity', id, name: id, disabled: false, appDataJson: '' },
      ...{ defaultHostingPrecedence: 'default', defaultHostingCost: 0 },
      ...{ serviceHostingPrecedences: new Map(), serviceHostingCosts: new Map(), serviceConfigs: new Map() },
    },
  }))
}

/** A policy by which an identity may use the service `wiki`. */
export function policy(
  id: string,
  policyType: 'Dial' | 'Bind',
  identity: string,
  checks: readonly PostureCheck[] = [],
) {
  const sides = { identities: [identity], services: ['wiki'], 'posture-checks': checks.map((check) => check.id) }
  const relations = (['identities', 'services', 'posture-checks'] as const).flatMap((side): ModelEvent[] =>
    sides[side].length === 0 ? [] : [{ action: 'relate', policyId: id, side, entityIds: sides[side] }],
  )
  const entities = checks.map((check): ModelEvent => ({ action: 'create', entity: { type: 'posture-check', check } }))
  const own: ModelEvent = { action: 'create', entity: { type: 'service-policy', id, name: id, policyType } }
  return [...entities, own, ...relations]
}

/** A host of the service, and a client whose policy asks for checks. */
export async function withHost(checks: readonly PostureCheck[], claims = {}) {
  const world = await LeftToRouter.open([
    ...policy('hosts', 'Bind', 'box'),
    ...policy('clients', 'Dial', 'laptop', checks),
  ])
  const host = await world.connect('box')
  host.serve((connection, body, flags) => host.data(connection, body, flags))
  const service = await world.token({ jti: 'bind' }, 'wiki')
  const bound = edgeMessage(EDGE_TYPE.bind, 1, [[EDGE_HEADER.assignedConnection, TRUE]], textBytes(service))
  expect((await host.ask(bound)).contentType).toBe(EDGE_TYPE.stateConnected)
  const client = await world.connect('laptop', claims)
  let last = 0
  const dial = async () => {
    last += 1
    return client.ask(edgeMessage(EDGE_TYPE.connect, last, [], textBytes(await world.token({}, 'wiki'))))
  }
  return { world, host, client, dial }
}
