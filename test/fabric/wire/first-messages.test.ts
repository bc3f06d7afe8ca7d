import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Frame } from '../../../adapters/network/channel/frame.ts'
import { textBytes } from '../../../adapters/network/channel/header-values.ts'
import { readHello } from '../../../adapters/network/fabric/hello.ts'
import { CONTENT_TYPE, HEADER } from '../../../adapters/network/fabric/messages/content-types.ts'
import { Inspect, OPERATOR_CONTENT } from '../../../adapters/network/fabric/operators/definitions.ts'
import { readFromOperator } from '../../../adapters/network/fabric/operators/operator-messages.ts'
import {
  LINK_SOCKET,
  linkRejection,
  readLinkAnswer,
  readLinkHello,
  writeLinkHello,
} from '../../../adapters/network/router/links/link-hello.ts'
import { runs } from '../../support/property-runs.ts'

const FIRST = { sequence: -1, headers: new Map() }
const bodyOf = (text: string) => [new TextEncoder().encode(text)]
const link = {
  linkId: 'a link between two routers',
  connectionId: 'connection',
  routerId: 'r1',
  peerVersion: 'v2.0.0',
  binding: 'transport',
  iteration: 1,
  meantRouterId: 'r2',
  isGrouped: true,
  isFirst: true,
  socketType: LINK_SOCKET.data,
  secret: Uint8Array.of(1, 2, 3),
}
const refusal = (read: () => unknown) => {
  try {
    return read()
  } catch (error) {
    return String(error)
  }
}

/** A message of each kind, its reader, and a member by which the whole body is seen. */
const MESSAGES: Readonly<Record<string, readonly [Frame, (frame: Frame) => unknown, unknown]>> = {
  'the hello of a router': [
    {
      ...FIRST,
      contentType: CONTENT_TYPE.hello,
      headers: new Map([[HEADER.version, textBytes('v2.0.0|rev|date|linux|amd64')]]),
      body: bodyOf('a router with a long id'),
    },
    readHello,
    { greeting: { routerId: 'a router with a long id' } },
  ],
  'the hello of a link': [writeLinkHello(link), readLinkHello, link],
  'the refusal of a link': [
    linkRejection('a link to nobody'),
    (frame) => refusal(() => readLinkAnswer(frame)),
    'Error: the link was refused: a link to nobody',
  ],
  'the question of an operator': [
    {
      ...FIRST,
      contentType: OPERATOR_CONTENT.inspect,
      body: [Inspect.encode({ appRegex: '.*', requestedValues: ['links', 'circuits'] })],
    },
    readFromOperator,
    { type: 'inspect', appRegex: '.*', requestedValues: ['links', 'circuits'] },
  ],
  'the subscription of an operator': [
    { ...FIRST, contentType: OPERATOR_CONTENT.streamEvents, body: bodyOf('{"subscriptions":[{"type":"circuit"}]}') },
    readFromOperator,
    { type: 'stream-events', body: '{"subscriptions":[{"type":"circuit"}]}' },
  ],
}

it.each(Object.entries(MESSAGES))(
  '%s is read whole, in whatever pieces its bytes arrive',
  (_, [frame, read, whole]) => {
    const bytes = Buffer.concat(frame.body)
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(bytes.length), { maxLength: 5 }), (cuts) => {
        const ends = [...cuts.toSorted((one, other) => one - other), bytes.length]
        const body = ends.map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end))
        const arrived = read({ ...frame, body })
        if (typeof whole === 'string') expect(arrived).toBe(whole)
        else expect(arrived).toMatchObject(Object(whole))
      }),
      runs(100),
    )
  },
)
