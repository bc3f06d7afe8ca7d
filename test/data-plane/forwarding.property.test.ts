import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Acknowledgement, ForwardFaults, ForwardingTable, type Payload, XgressEnd } from '../../src/data-plane.ts'
import { patience, runs } from '../support/property-runs.ts'
import { randomFrom } from '../support/seeded-random.ts'

type Message = { readonly payload: Payload } | { readonly acknowledgement: Acknowledgement }

/** Milliseconds between two reports of circuits that nobody knows, and the most circuits of a report. */
const FAULT_REPORT_MS = 15_000
const MOST_WAITING_FAULTS = 1000

const ROUTERS = ['east', 'middle', 'west'] as const
/** Two links between neighbours, and one past the middle. */
const LINKS = [
  { id: 'em-1', between: ['east', 'middle'] },
  { id: 'em-2', between: ['east', 'middle'] },
  { id: 'mw-1', between: ['middle', 'west'] },
  { id: 'mw-2', between: ['middle', 'west'] },
  { id: 'ew-1', between: ['east', 'west'] },
] as const
const PATHS = [
  { routers: ['east', 'west'], links: ['ew-1'] },
  ...['em-1', 'em-2'].flatMap((first) =>
    ['mw-1', 'mw-2'].map((second) => ({ routers: ['east', 'middle', 'west'], links: [first, second] })),
  ),
]

/** The routes of a path: at each router from the address before it to the one behind it, and back. */
function routesOf({ routers, links }: (typeof PATHS)[number], ingress: string, egress: string) {
  const addresses = [ingress, ...links, egress]
  const typeAt = (place: number) => (place === 0 ? 'start' : place === routers.length ? 'end' : 'link')
  return routers.map((routerId, at) => {
    const [before = '', after = ''] = addresses.slice(at, at + 2)
    const forwards = [
      { srcAddress: before, dstAddress: after, dstType: typeAt(at + 1) },
      { srcAddress: after, dstAddress: before, dstType: typeAt(at) },
    ] as const
    return { routerId, forwards }
  })
}

const network = fc.record({
  loss: fc.double({ min: 0, max: 0.2, noNaN: true }),
  seed: fc.integer(),
  circuits: fc.array(fc.record({ chunks: fc.integer({ min: 0, max: 30 }), answers: fc.integer({ min: 0, max: 30 }) }), {
    minLength: 1,
    maxLength: 4,
  }),
  /** Ways that are laid while traffic flows: after how many ms, for which circuit, over which path. */
  moves: fc.array(
    fc.record({ at: fc.integer({ min: 0, max: 4000 }), circuit: fc.nat(3), path: fc.nat(PATHS.length - 1) }),
    { maxLength: 8 },
  ),
})

describe('circuits over three routers whose ways change while traffic flows', () => {
  it('reach their own two ends, whole and in order', { timeout: patience(60_000) }, () => {
    fc.assert(
      fc.property(network, ({ loss, seed, circuits, moves }) => {
        let now = 0
        const events: { at: number; run: () => void }[] = []
        const tables = new Map<string, ForwardingTable>(ROUTERS.map((id) => [id, new ForwardingTable()]))
        const ends = new Map<string, { router: string; end: XgressEnd; received: string[] }>()

        const chance = randomFrom(seed)
        const circuitOf = (message: Message) =>
          'payload' in message ? message.payload.circuitId : message.acknowledgement.circuitId
        /** A router got a message from an address. */
        const forward = (router: string, source: string, message: Message) => {
          const to = tables.get(router)?.destination(circuitOf(message), source, now)
          const link = LINKS.find(({ id }) => id === to)
          if (link !== undefined) {
            if (chance() < loss) return
            const peer = link.between[0] === router ? link.between[1] : link.between[0]
            events.push({ at: now + 1 + Math.floor(chance() * 40), run: () => forward(peer, link.id, message) })
            return
          }
          const own = to === undefined ? undefined : ends.get(to)
          if (own === undefined) return
          expect(own.router).toBe(router)
          if ('payload' in message) own.end.takePayload(message.payload, now)
          else own.end.takeAcknowledgement(message.acknowledgement, now)
        }
        const lay = (circuit: number, path: number) => {
          const chosen = PATHS[path]
          if (chosen === undefined) return
          const laid = routesOf(chosen, `i-${circuit}`, `e-${circuit}`)
          for (const { routerId, forwards } of laid) {
            expect(tables.get(routerId)?.lay(`circuit-${circuit}`, 'controller', forwards, now)).toBe(true)
          }
        }
        const wordsOf = (address: string, count: number) => Array.from({ length: count }, (_, at) => `${address}:${at}`)

        for (const [number, { chunks, answers }] of circuits.entries()) {
          const sides = [
            { address: `i-${number}`, router: 'east', side: 'initiator', words: chunks },
            { address: `e-${number}`, router: 'west', side: 'terminator', words: answers },
          ] as const
          lay(number, number % PATHS.length)
          for (const { address, router, side, words } of sides) {
            const received: string[] = []
            const send = (message: Message) => forward(router, address, message)
            const end: XgressEnd = new XgressEnd(
              { circuitId: `circuit-${number}`, side, now },
              {
                payload: (payload) => send({ payload }),
                acknowledgement: (acknowledgement) => send({ acknowledgement }),
                readable: () => {
                  for (let reading = end.read(now); reading !== undefined; reading = end.read(now)) {
                    if (reading.type === 'data') received.push(Buffer.from(reading.chunk.body).toString())
                  }
                },
                writable: () => undefined,
                over: () => undefined,
              },
            )
            ends.set(address, { router, end, received })
            for (const word of wordsOf(address, words)) end.write({ items: new Map(), body: Buffer.from(word) }, now)
          }
          for (const { address } of sides) {
            ends.get(address)?.end.start(now)
            ends.get(address)?.end.finish(now)
          }
        }
        for (const { at, circuit, path } of moves) events.push({ at, run: () => lay(circuit % circuits.length, path) })
        const isDone = () => [...ends.values()].every(({ end }) => end.isOver)
        for (; now < 600_000 && !isDone(); now += 10) {
          const due = events.filter(({ at }) => at <= now).sort((left, right) => left.at - right.at)
          for (const event of due) events.splice(events.indexOf(event), 1)
          for (const { run } of due) run()
          for (const { end } of ends.values()) {
            end.acknowledge()
            if (now % 100 === 0) end.tick(now)
          }
        }
        for (const [number, { chunks, answers }] of circuits.entries()) {
          expect(ends.get(`e-${number}`)?.received).toEqual(wordsOf(`i-${number}`, chunks))
          expect(ends.get(`i-${number}`)?.received).toEqual(wordsOf(`e-${number}`, answers))
        }
        expect(isDone()).toBe(true)
      }),
      runs(100, 30),
    )
  })
})

describe('what a router forwards', () => {
  const way = [
    { srcAddress: 'here', dstAddress: 'link' },
    { srcAddress: 'link', dstAddress: 'here' },
  ]

  it('comes from where its circuit was laid, and from nowhere else', () => {
    const table = new ForwardingTable()
    table.lay('mine', 'controller', way, 0)
    table.lay('yours', 'controller', [{ srcAddress: 'other-link', dstAddress: 'there' }], 0)
    expect(table.destination('mine', 'link', 0)).toBe('here')
    expect(table.destination('yours', 'link', 0)).toBeUndefined()
    expect(table.destination('mine', 'other-link', 0)).toBeUndefined()
    expect(table.destination('nobodys', 'link', 0)).toBeUndefined()
  })

  it('belongs to the controller that laid it: another one changes nothing of it', () => {
    const table = new ForwardingTable()
    expect(table.lay('mine', 'one', way, 0)).toBe(true)
    expect(table.lay('mine', 'two', [{ srcAddress: 'here', dstAddress: 'evil' }], 0)).toBe(false)
    expect(table.destination('mine', 'here', 0)).toBe('link')
  })

  it('ends once it is quiet, and is asked about after a minute without traffic; repeats are no traffic', () => {
    const table = new ForwardingTable()
    table.lay('busy', 'controller', way, 0)
    table.lay('ending', 'controller', way, 0)
    table.destination('ending', 'here', 4000)
    table.destination('busy', 'here', 30_000)
    table.destination('busy', 'here', 80_000, false)
    table.dropWhenQuiet('ending')
    expect(table.dropQuiet(8000)).toEqual([])
    expect(table.dropQuiet(9000)).toEqual(['ending'])
    expect(table.idle(89_000)).toEqual([])
    expect(table.idle(90_000)).toEqual([{ circuitId: 'busy', controllerId: 'controller', idleMs: 60_000 }])
  })

  it('ends where it is told, and nowhere else', () => {
    const table = new ForwardingTable()
    table.lay('one', 'controller', way, 0)
    table.lay('other', 'controller', way, 0)
    table.dropWhenQuiet('one')
    table.dropWhenQuiet('nobodys')
    expect(['one', 'other', 'nobodys'].map((id) => table.isEnding(id))).toEqual([true, false, false])
    // An ending circuit is not asked about.
    expect(table.idle(60_000).map(({ circuitId }) => circuitId)).toEqual(['other'])
    const dropped: unknown[] = []
    table.dropQuiet(5000, (id, forwards) => dropped.push([id, [...forwards]]))
    const forwards = [
      ['here', 'link'],
      ['link', 'here'],
    ]
    expect(dropped).toEqual([['one', forwards]])
    expect([table.size, table.isEnding('one'), table.forwardsOf('one'), table.controllerOf('one')]).toEqual([
      1,
      false,
      undefined,
      undefined,
    ])
    expect(table.controllerOf('other')).toBe('controller')
    table.drop('other')
    table.drop('nobodys')
    expect([table.size, table.destination('other', 'here', 0)]).toEqual([0, undefined])
  })

  it('counts its bytes by direction, at the router of its client, once, and those of a circuit that ended as well', () => {
    const table = new ForwardingTable()
    const [first, last] = [
      [
        { srcAddress: 'here', dstAddress: 'link' },
        { srcAddress: 'link', dstAddress: 'here', dstType: 'start' as const },
      ],
      [{ srcAddress: 'link', dstAddress: 'there', dstType: 'end' as const }],
    ]
    for (const id of ['busy', 'ended', 'silent']) table.lay(id, 'controller', first, 0)
    table.lay('at its end', 'controller', last, 0)
    expect(table.carried()).toEqual([])
    for (const [source, bytes] of [
      ['here', 5],
      ['link', 7],
      ['here', 11],
    ] as const)
      table.destination('busy', source, 0, true, bytes)
    // Repeats, and messages without bytes.
    table.destination('busy', 'here', 0, false, 100)
    table.destination('silent', 'here', 0)
    table.destination('at its end', 'link', 0, true, 100)
    table.destination('ended', 'link', 0, true, 3)
    table.drop('ended')
    table.drop('silent')
    const carried = (circuitId: string, fromClient: number, toClient: number) => ({
      ...{ circuitId, controllerId: 'controller', fromClient, toClient },
    })
    expect(table.carried()).toEqual([carried('ended', 0, 3), carried('busy', 16, 7)])
    expect(table.carried()).toEqual([])
    table.destination('busy', 'link', 0, true, 1)
    expect(table.carried()).toEqual([carried('busy', 0, 1)])
  })

  it('is shown to operators up to a number', () => {
    const table = new ForwardingTable()
    for (const id of ['first', 'second', 'third']) table.lay(id, 'controller', way, 0)
    table.destination('first', 'here', 400)
    const shown = table.circuits(1000, 2)
    expect(shown.map(({ circuitId, controllerId, idleMs }) => [circuitId, controllerId, idleMs])).toEqual([
      ['first', 'controller', 600],
      ['second', 'controller', 1000],
    ])
    expect(shown[0]?.forwards).toEqual(table.forwardsOf('first'))
    expect(table.circuits(1000, 0)).toEqual([])
  })

  it('keeps within its bounds, however many circuits and ways are laid', () => {
    const table = new ForwardingTable(2)
    table.lay('first', 'controller', way, 0)
    table.lay('second', 'controller', way, 0)
    expect(table.lay('third', 'controller', way, 0)).toBe(false)
    for (let link = 0; link < 100; link += 1) {
      table.lay(
        'first',
        'controller',
        [
          { srcAddress: 'here', dstAddress: `${link}` },
          { srcAddress: `${link}`, dstAddress: 'here' },
        ],
        0,
      )
    }
    expect(table.forwardsOf('first')?.size).toBe(16)
    expect(table.destination('first', 'here', 0)).toBe('99')
  })

  it('is told once for each circuit that nobody knows, a thousand at a time, by the controller that laid it', () => {
    const faults = new ForwardFaults(0)
    faults.note('lost', 'controller')
    faults.note('lost', 'controller')
    faults.note('moved', 'controller')
    faults.forget('moved')
    for (let circuit = 0; circuit < 5000; circuit += 1) faults.note(`invented-${circuit}`, undefined)
    expect(faults.report(FAULT_REPORT_MS - 1)).toEqual([])
    const [known, invented] = faults.report(FAULT_REPORT_MS)
    expect(known).toEqual({ controllerId: 'controller', circuitIds: ['lost'] })
    expect(invented?.controllerId).toBeUndefined()
    expect(invented?.circuitIds.length).toBe(MOST_WAITING_FAULTS - 1)
    expect(faults.report(2 * FAULT_REPORT_MS)).toEqual([])
    faults.note('lost', 'controller')
    expect(faults.report(3 * FAULT_REPORT_MS - 1)).toEqual([])
    expect(faults.report(3 * FAULT_REPORT_MS)).toHaveLength(1)
  })
})
