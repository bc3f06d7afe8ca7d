import { describe, expect, it } from 'vitest'
// Internals: the words of a traced dial for every way in which one may stop, which the API has for one dial at a time.
import {
  type DialTrace,
  dialSteps,
  dialText,
  dialVerdict,
  stationOf,
  type TracedAttempt,
  type TracedHop,
} from '../../../src/facts/fabric/rules/index.ts'

const NAMES: Readonly<Record<string, string>> = {
  i: 'laptop',
  s: 'web',
  h: 'box',
  r1: 'first',
  r2: 'second',
  r3: 'third',
}
const nameOf = (id: string) => NAMES[id] ?? id
const hop = (routerId: string, rest: Partial<TracedHop> = {}): TracedHop => ({
  ...{ routerId, link: null, answeredMs: 5, cause: null },
  ...rest,
})
const attempt = (rest: Partial<TracedAttempt> = {}): TracedAttempt => ({
  ...{ terminatorId: 't', hostId: 'h', cost: 30, askedMs: 2, failure: null },
  hops: [hop('r1'), hop('r2', { link: { id: 'l', latencyMs: 4 }, answeredMs: 9 })],
  ...rest,
})
const trace = (rest: Partial<DialTrace> = {}): DialTrace => ({
  ...{ circuitId: 'c', identityId: 'i', serviceId: 's', routerId: 'r1', at: 0 },
  ...{ allowedMs: 1, attempts: [attempt()], failure: null, refusal: null, tookMs: 12 },
  ...rest,
})
const THREE_HOPS = [hop('r1'), hop('r2'), hop('r3')]
const failed = (routerId: string, cause: 'disconnected' | 'connection-refused') => {
  const first = attempt({ failure: { routerId: 'r1', cause: 'disconnected' } })
  const last = attempt({ hops: THREE_HOPS, failure: { routerId, cause } })
  return trace({ failure: 'routers-failed', attempts: [first, first, last] })
}

describe('a traced dial', () => {
  it.each([
    ['gets through', trace(), undefined, 'It got through in 12 ms.'],
    [
      'is not allowed',
      trace({ failure: 'not-allowed', refusal: 'no policy grants it', attempts: [], allowedMs: null }),
      'policies',
      'It stopped after 12 ms at the policies: no policy grants it.',
    ],
    [
      'is not allowed, and nobody says why',
      trace({ failure: 'not-allowed', attempts: [], allowedMs: null }),
      'policies',
      'It stopped after 12 ms at the policies: the access is refused.',
    ],
    [
      'finds no common encryption',
      trace({ failure: 'refused', attempts: [] }),
      'encryption',
      'It stopped after 12 ms at the encryption that the service asks for: the service asks for encryption, and one end offered none.',
    ],
    [
      'is given up',
      trace({ failure: 'client-gave-up' }),
      'client',
      'It stopped after 12 ms at the client: it had given up before the answer came, and did not start the circuit.',
    ],
    [
      'finds no way',
      trace({ failure: 'no-path', attempts: [] }),
      'links',
      'It stopped after 12 ms at the choice of a way: no links led to a router of the terminators.',
    ],
    [
      'finds no way after a router failed',
      { ...failed('r3', 'disconnected'), failure: 'no-path' },
      'links',
      'It stopped after 12 ms at the choice of a way: no links led to a router of the terminators.',
    ],
    [
      'finds no terminator',
      trace({ failure: 'no-terminators', attempts: [] }),
      'terminators',
      'It stopped after 12 ms at the choice of a terminator: there was no terminator.',
    ],
    [
      'finds terminators elsewhere',
      trace({ failure: 'no-online-terminators', attempts: [] }),
      'terminators',
      'It stopped after 12 ms at the choice of a terminator: the routers of the terminators were offline.',
    ],
    [
      'is refused by its host',
      failed('r3', 'connection-refused'),
      'host',
      "It stopped after 12 ms at the host, asked by 'third': the host refused the connection.",
    ],
    [
      'loses its last router',
      failed('r3', 'disconnected'),
      'router',
      "It stopped after 12 ms at the router 'third': the router went offline.",
    ],
    [
      'fails at a router on its way',
      failed('r2', 'connection-refused'),
      'router',
      "It stopped after 12 ms at the router 'second': the host refused the connection.",
    ],
    [
      'fails at routers of which none said why',
      trace({ failure: 'routers-failed', attempts: [attempt()] }),
      'router',
      "It stopped after 12 ms at the router '': routers did not lay the circuit.",
    ],
  ] as const)('%s', (_, traced, station, verdict) => {
    expect([stationOf(traced), dialVerdict(traced, nameOf)]).toEqual([station, verdict])
  })

  it('has its steps in the order of its path', () => {
    expect(dialSteps(trace(), nameOf)).toEqual([
      { afterMs: 0, routerId: 'r1', linkId: null, text: "'first' asked for a circuit on behalf of 'laptop'" },
      { afterMs: 1, routerId: null, linkId: null, text: "'laptop' may dial 'web'" },
      {
        ...{ afterMs: 2, routerId: null, linkId: null },
        text: "the host 'box' at 'second' was chosen, and the routers were asked: 'first', 'second' (cost 30)",
      },
      { afterMs: 5, routerId: 'r1', linkId: null, text: "'first' is ready" },
      { afterMs: 9, routerId: 'r2', linkId: 'l', text: "'second' over link l (4 ms) reached 'box', which answered" },
      { afterMs: 12, routerId: 'r1', linkId: null, text: "'first' was told that the circuit is there" },
    ])
  })

  it.each([
    ['an address of an operator', attempt({ hostId: '' }), 'a terminator at', 'reached the host, which answered'],
    [
      'a link without a measurement',
      attempt({ hops: [hop('r1'), hop('r2', { link: { id: 'l', latencyMs: null } })] }),
      'the host',
      "'second' over link l reached 'box', which answered",
    ],
    [
      'a router that says nothing',
      attempt({ hops: [hop('r1'), hop('r2', { answeredMs: null })] }),
      'the host',
      "'second' did not answer",
    ],
    [
      'a router that fails',
      attempt({ hops: [hop('r1'), hop('r2', { cause: 'dns-failure' })] }),
      'the host',
      "'second' failed: the name of the host was not found",
    ],
    [
      'a router that fails without an answer',
      attempt({ hops: [hop('r1'), hop('r2', { cause: 'no-answer', answeredMs: null })] }),
      'the host',
      "'second' failed: the router did not answer in time",
    ],
    [
      'the last router of three',
      attempt({ hops: THREE_HOPS }),
      "the host 'box' at 'third'",
      "'third' reached 'box', which answered",
    ],
    ['no router', attempt({ hops: [] }), "the host 'box' at ''", "the host 'box' at ''"],
  ] as const)('names %s', (_, only, chosen, last) => {
    const texts = dialSteps(trace({ attempts: [only] }), nameOf).map(({ text }) => text)
    expect(texts[2]).toContain(chosen)
    expect(texts.at(-2)).toContain(last)
  })

  it.each([
    [
      'of a refusal, without what was never asked',
      trace({ failure: 'not-allowed', refusal: 'no', attempts: [], allowedMs: null }),
      ["'first' was refused: no"],
    ],
    [
      'of a client that gave up',
      trace({ failure: 'client-gave-up', attempts: [] }),
      ["'laptop' may dial 'web'", "'first' was told that the circuit is there"],
    ],
    [
      'of a failure',
      trace({ failure: 'no-path', attempts: [] }),
      ["'laptop' may dial 'web'", "'first' was refused: no links led to a router of the terminators"],
    ],
  ])('has the steps %s', (_, traced, texts) => {
    expect(
      dialSteps(traced, nameOf)
        .map(({ text }) => text)
        .slice(1),
    ).toEqual(texts)
  })

  it('is a text with the times in a column', () => {
    const step = { routerId: null, linkId: null }
    expect(
      dialText(
        'Dial',
        [
          { ...step, afterMs: 7, text: 'a' },
          { ...step, afterMs: null, text: 'b' },
        ],
        'Done.',
      ),
    ).toBe('Dial\n       7 ms  a\n       - ms  b\nDone.')
    expect(dialText('Dial', [], 'Done.')).toBe('Dial\nDone.')
  })
})
