import { emptyPostureData } from 'portcullis/policy'
import { describe, expect, it } from 'vitest'
import { CONTENT_TYPE } from '../../adapters/network/fabric/messages/content-types.ts'
import { readMessage, writeFromRouter } from '../../adapters/network/fabric/messages/rows-from-router.ts'
import { readToRouter, writeMessage } from '../../adapters/network/fabric/messages/rows-to-router.ts'
// Internals: values of the wire that routers send and no entry point exports.
import type { FromRouter, ToRouter } from '../../src/control-channel.ts'

const peerData = new Map([[1003, Uint8Array.of(1, 2, 3)]])
const connections = [{ type: 'link.default', source: 'tcp:a:1', target: 'tcp:b:2' }]

const FROM_ROUTER: readonly FromRouter[] = [
  { type: 'fault', subject: 'ingress', id: 'c', iteration: 0 },
  { type: 'fault', subject: 'duplicate-link', id: 'l', iteration: 3 },
  { type: 'route-result', circuitId: 'c', attempt: 7, success: true, cause: 'generic', message: '', peerData },
  {
    type: 'route-result',
    circuitId: 'c',
    attempt: 1,
    success: false,
    cause: 'invalid-link',
    message: 'no such link',
    peerData: new Map(),
  },
  { type: 'metrics', nanoseconds: new Map([['link.l.latency', 1_500_000]]), usage: [] },
  { type: 'circuit-confirmation', circuitIds: ['c'], idleTimes: new Map([['c', 60_000_000_000]]) },
  {
    type: 'router-links',
    fullRefresh: true,
    links: [
      { id: 'l', target: 'r', protocol: 'tls', dialAddress: 'tls:h:1', iteration: 2, stateIteration: 1, connections },
    ],
  },
  { type: 'link-state', linkId: 'l', iteration: 2, stateIteration: 4, connections },
  { type: 'verify-router', routerId: 'r', fingerprints: ['ab'] },
  {
    type: 'link-listeners',
    listeners: [{ address: 'tls:h:1', protocol: 'tls', groups: ['default'], localBinding: 'lo' }],
  },
  { type: 'edge-hello', hostname: 'h', listeners: [{ protocol: 'tls', advertise: 'h:3022' }] },
  { type: 'edge-hello', hostname: '::1', listeners: [{ protocol: 'tls', advertise: '[::1]:3022' }] },
  { type: 'connect-events', full: true, identities: [{ identityId: 'i', connected: true }] },
  { type: 'api-session-heartbeat', tokens: ['t'] },
  { type: 'validate-sessions', tokens: ['t'] },
  {
    type: 'posture-reported',
    apiSessionToken: 'api',
    reports: [
      { facts: { domain: 'corp.example' }, at: expect.any(Number) },
      { facts: { isWoken: true }, at: 1_700_000_000_000 },
    ],
  },
  { type: 'posture-reported', apiSessionToken: 'api', reports: [] },
  { type: 'posture-unwanted', apiSessionId: 's' },
  {
    type: 'create-circuit',
    sessionToken: 'jwt',
    apiSessionToken: 'api',
    identityId: '',
    serviceId: '',
    circuitId: undefined,
    instanceId: 'one',
    peerData,
  },
  {
    type: 'create-circuit',
    sessionToken: undefined,
    apiSessionToken: 'api',
    identityId: 'i',
    serviceId: 's',
    circuitId: undefined,
    instanceId: '',
    peerData,
  },
  { type: 'create-tunnel-circuit', serviceName: 's', instanceId: '', peerData },
  {
    type: 'create-terminator',
    address: 'a',
    sessionToken: 's',
    apiSessionToken: 'api',
    peerData,
    cost: 5,
    precedence: 'required',
    instanceId: 'i',
    instanceSecret: Uint8Array.of(9),
  },
  { type: 'update-terminator', terminatorId: 't', cost: 3, precedence: undefined },
  { type: 'remove-terminators', terminatorIds: ['t', 'u'] },
  { type: 'subscribe', currentIndex: 4, timelineId: 't', subscriptionId: 's' },
  { type: 'alerts', alerts: [{ severity: 'info', message: 'm', details: ['d'] }] },
  { type: 'controllers' },
  { type: 'decommission' },
  { type: 'traces-set', id: 'q', success: true, message: 'l/1: traced' },
  {
    type: 'channel-trace',
    atNs: 1_700_000_000_123_456_789n,
    owner: 'l',
    channel: 'l/l',
    isReceived: true,
    contentType: 1100,
    sequence: 7,
    replyFor: -1,
    length: 12,
    meaning: '{"__message__":"Payload"}',
  },
  { type: 'confirm-certificate', clientCertPem: 'pem' },
  { type: 'extend-certificates', clientCertCsr: 'a', serverCertCsr: 'b' },
  { type: 'quiesce' },
  { type: 'dequiesce' },
  { type: 'resync-api-sessions', reason: 'late' },
  {
    type: 'interfaces',
    interfaces: [{ name: 'eth0', hardwareAddress: 'aa', mtu: 1500, index: 2, flags: 19, addresses: ['192.0.2.1/24'] }],
  },
  {
    type: 'create-tunnel-terminator',
    serviceId: 's',
    startTime: -5n,
    address: 'a',
    peerData,
    cost: 5,
    precedence: 'failed',
    instanceId: 'i',
    instanceSecret: Uint8Array.of(9),
  },
  { type: 'terminators-validated', states: new Map([['t', { valid: true, detail: 'there' }]]) },
  {
    type: 'model-validated',
    differences: [{ entityType: 'service', entityId: 's', kind: 'removed', detail: 'gone' }],
  },
  { type: 'inspected', id: 'q', errors: [], values: [{ name: 'links', value: '{}' }] },
  { type: 'inspected', id: '', errors: ['no'], values: [] },
]

const TO_ROUTER: readonly (readonly [ToRouter, asked?: number])[] = [
  [
    {
      type: 'posture-known',
      apiSessionId: 's',
      revision: 7,
      posture: {
        ...emptyPostureData(),
        domain: { postureCheckId: 'domain', lastUpdatedAt: 1, domain: 'corp.example' },
      },
    },
  ],
  [{ type: 'trace-channels', id: 'q', isOn: true, named: 'all', routerPattern: '.*', channelPattern: '^l/' }],
  [{ type: 'result', success: false, message: 'no' }],
  [{ type: 'refusal', code: 'invalid-service', message: 'no', hint: 'not-retriable', circuitId: 'c' }],
  [
    {
      type: 'route',
      circuitId: 'c',
      attempt: 1,
      timeoutMs: 2000,
      forwards: [{ srcAddress: 'a', dstAddress: 'b', dstType: 'link' }],
      egress: { binding: 'edge', address: 'e', destination: 'd', peerData },
      tags: new Map([['serviceId', 's']]),
    },
  ],
  [{ type: 'route', circuitId: 'c', attempt: 1, timeoutMs: 5, forwards: [], tags: new Map() }],
  [{ type: 'unroute', circuitId: 'c', now: true }],
  [{ type: 'link-fault', linkId: 'l', iteration: 2 }],
  [
    {
      type: 'peers',
      changes: [
        {
          id: 'r',
          version: 'v2',
          state: 'healthy',
          listeners: [{ address: 'tls:h:1', protocol: 'tls', groups: ['g'], localBinding: '' }],
        },
      ],
    },
  ],
  [{ type: 'controller-addresses', index: 3, isComplete: true, controllers: [{ id: 'c', addresses: ['tls:h:1'] }] }],
  [{ type: 'edge-hello', version: 'v2' }],
  [{ type: 'api-sessions-added', sessions: [{ token: 't', certFingerprints: ['f'], id: 'i', identityId: 'j' }] }],
  [{ type: 'api-sessions-added', sessions: [], full: { syncId: 's', sequence: 0, isLast: true } }],
  [{ type: 'api-sessions-removed', tokens: ['t'], ids: ['i'] }],
  [{ type: 'sessions-removed', ids: ['i'] }],
  [
    { type: 'circuit-created', circuitId: 'c', address: 'a', peerData, tags: new Map([['a', 'b']]) },
    CONTENT_TYPE.createCircuitV2,
  ],
  [
    { type: 'circuit-created', circuitId: 'c', address: 'a', peerData, tags: new Map() },
    CONTENT_TYPE.createTunnelCircuit,
  ],
  [{ type: 'terminator-created', terminatorId: 't', startTime: 0n }, CONTENT_TYPE.createTerminatorV2],
  [
    { type: 'terminator-refused', terminatorId: 't', code: 'invalid-cost', message: 'no', hint: 'start-over' },
    CONTENT_TYPE.createTerminatorV2,
  ],
  [{ type: 'terminator-updated' }, CONTENT_TYPE.updateEdgeTerminator],
  [{ type: 'terminator-updated' }, CONTENT_TYPE.updateTunnelTerminator],
  // Routers ask in this form, which is answered by a result.
  [{ type: 'terminator-updated' }, CONTENT_TYPE.updateTerminator],
  [{ type: 'refusal', code: 'internal', message: 'no', hint: 'default' }, CONTENT_TYPE.updateTerminator],
  [{ type: 'refusal', code: 'internal', message: 'busy', hint: 'too-busy' }, CONTENT_TYPE.updateTerminator],
  [{ type: 'certificates', clientCertPem: 'a', serverCertPem: 'b' }],
  [{ type: 'renew-certificates', authorityKeyId: 'k' }],
  [{ type: 'api-sessions-updated', sessions: [{ token: 't', certFingerprints: [], id: 'i', identityId: 'j' }] }],
  [
    {
      type: 'validate-terminators',
      terminators: [{ id: 't', binding: 'edge', address: 'a' }],
      fixInvalid: true,
      asksHosts: false,
    },
  ],
  [{ type: 'terminator-created', terminatorId: 't', startTime: -5n }, CONTENT_TYPE.createTunnelTerminator],
  [
    { type: 'terminator-refused', terminatorId: 't', code: 'access-denied', message: 'no', hint: 'too-busy' },
    CONTENT_TYPE.createTunnelTerminator,
  ],
  [{ type: 'circuit-created', circuitId: 'c', address: 'a', peerData, tags: new Map() }, CONTENT_TYPE.createCircuit],
  [{ type: 'inspect', id: 'q', values: ['links'] }],
  [{ type: 'certificate-confirmed', problem: undefined }, CONTENT_TYPE.confirmCertificate],
  [{ type: 'certificate-confirmed', problem: 'VERIFY_ERROR' }, CONTENT_TYPE.confirmCertificate],
]

describe('what a router and its controller say to each other', () => {
  it.each(FROM_ROUTER.map((message) => [message.type, message] as const))(
    'means the same to the controller: %s',
    (_type, message) => {
      const written = writeFromRouter(message)
      if (written === undefined) throw new Error('it has a form on the wire')
      expect(readMessage({ ...written, sequence: 1 })).toMatchObject(message)
    },
  )

  it.each(TO_ROUTER.map(([message, asked]) => [message.type, message, asked] as const))(
    'means the same to the router: %s',
    (_type, message, asked) => {
      expect(readToRouter({ ...writeMessage(message, asked), sequence: 1 }, asked)).toMatchObject(message)
    },
  )

  it('holds the events of the model beside what is said of them', () => {
    const event = Uint8Array.of(0x0a, 0)
    const state = { type: 'model-state', index: 7, timelineId: 't', subscriptionId: 's', events: [event] } as const
    const written = writeMessage(state)
    expect(readToRouter({ ...written, sequence: 1 })).toEqual({
      ...state,
      events: [Uint8Array.from(Buffer.concat(written.body))],
    })
    const events = Uint8Array.of(0x1a, 0)
    const changes = { type: 'model-changes', index: 8, previousIndex: 7, subscriptionId: '', events } as const
    const changed = writeMessage(changes)
    expect(readToRouter({ ...changed, sequence: 1 })).toEqual({
      ...changes,
      events: Uint8Array.from(Buffer.concat(changed.body)),
    })
    const validate = writeMessage({ type: 'validate-model', index: 9, events: [event] })
    expect(readToRouter({ ...validate, sequence: 1 })).toMatchObject({ type: 'validate-model', index: 9 })
  })

  it('is refused where it is no message: nothing half-read goes on', () => {
    const headers = new Map<number, Uint8Array>()
    for (const contentType of [1004, 1005, 1006, 1037, 1050, 20000, 20200, 20217, 20500]) {
      const frame = { contentType, sequence: 1, headers, body: [Uint8Array.of(0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f)] }
      expect(() => readToRouter(frame)).toThrow()
    }
  })
})
