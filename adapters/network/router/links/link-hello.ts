import { timingSafeEqual } from 'node:crypto'
import { CHANNEL_HEADER, CHANNEL_TYPE, HELLO_SEQUENCE } from '../../channel/channel-numbers.ts'
import { textIn } from '../../channel/edge-messages.ts'
import { type Frame, FrameError } from '../../channel/frame.ts'
import { boolHeader, readBool, readText, readUint32, textBytes, uint32Header } from '../../channel/header-values.ts'

/** The ALPN protocol of links. */
export const LINK_PROTOCOL = 'ziti-link'

/** Sockets of a link by their use: payloads of any kind, and acknowledgements alone. */
export const LINK_SOCKET = { data: 'link.default', acknowledgements: 'link.ack' } as const

/** Keys of a hello on a link. On other channels the same numbers have other meanings. */
const KEY = {
  ...CHANNEL_HEADER,
  splitType: 1,
  routerId: 2,
  version: 3,
  binding: 4,
  iteration: 5,
  meantRouterId: 6,
  linkId: 100,
} as const

const LONGEST_TEXT = 128

/** How a router opens a socket of a link. */
export interface LinkHello {
  readonly linkId: string
  /** The same for all sockets of a link. */
  readonly connectionId: string
  readonly routerId: string
  readonly peerVersion: string
  readonly binding: string
  /** Counts the attempts of the dialing router. */
  readonly iteration: number
  /** The router that is meant; empty where the dialing one does not say. */
  readonly meantRouterId: string
  readonly isGrouped: boolean
  readonly isFirst: boolean
  readonly socketType: string
  readonly secret: Uint8Array | undefined
}

/** Reads the first frame of a socket; a text is the reason for a refusal. Throws `FrameError` for an invalid hello. */
export function readLinkHello({ contentType, headers, body }: Frame): LinkHello | string {
  if (contentType !== CHANNEL_TYPE.hello) throw new FrameError('the first frame is no hello')
  const text = (key: number) => readText(headers, key) ?? ''
  const isGrouped = readBool(headers, KEY.isGrouped) ?? false
  if (!isGrouped && headers.has(KEY.splitType)) return 'links of separate sockets without a group are not taken'
  const hello = {
    linkId: textIn({ body }),
    connectionId: text(KEY.connectionId),
    routerId: text(KEY.routerId),
    peerVersion: text(KEY.version),
    binding: text(KEY.binding),
    iteration: readUint32(headers, KEY.iteration) ?? 0,
    meantRouterId: text(KEY.meantRouterId),
    isGrouped,
    isFirst: readBool(headers, KEY.isFirstOfGroup) ?? false,
    socketType: text(KEY.underlayType) || LINK_SOCKET.data,
    secret: isGrouped ? headers.get(KEY.groupSecret) : undefined,
  }
  const isNamed = hello.linkId !== '' && hello.routerId !== ''
  const { linkId, connectionId, routerId, binding } = hello
  const isShort = [linkId, connectionId, routerId, binding].every(({ length }) => length <= LONGEST_TEXT)
  return isNamed && isShort ? hello : 'a hello without link or router'
}

/** The hello of a socket that this router opens. */
export function writeLinkHello(hello: LinkHello): Frame {
  const headers = new Map<number, Uint8Array>([
    [KEY.connectionId, textBytes(hello.connectionId)],
    [KEY.routerId, textBytes(hello.routerId)],
    [KEY.version, textBytes(hello.peerVersion)],
    [KEY.binding, textBytes(hello.binding)],
    [KEY.iteration, uint32Header(hello.iteration)],
    [KEY.meantRouterId, textBytes(hello.meantRouterId)],
    [KEY.linkId, textBytes(hello.linkId)],
  ])
  if (hello.isGrouped) {
    headers.set(KEY.isGrouped, boolHeader(true))
    headers.set(KEY.underlayType, textBytes(hello.socketType))
    if (hello.isFirst) headers.set(KEY.isFirstOfGroup, boolHeader(true))
    if (hello.secret !== undefined) headers.set(KEY.groupSecret, hello.secret)
  }
  return { contentType: CHANNEL_TYPE.hello, sequence: HELLO_SEQUENCE, headers, body: [textBytes(hello.linkId)] }
}

/** The answer that takes a socket; with `secret` as one of a group. */
export function linkAcceptance(hello: LinkHello, routerId: string, secret: Uint8Array | undefined): Frame {
  const headers = new Map<number, Uint8Array>([
    [KEY.replyFor, uint32Header(HELLO_SEQUENCE >>> 0)],
    [KEY.success, boolHeader(true)],
    [KEY.connectionId, textBytes(hello.connectionId)],
    [KEY.id, textBytes(routerId)],
  ])
  if (secret !== undefined) {
    headers.set(KEY.isGrouped, boolHeader(true))
    headers.set(KEY.underlayType, textBytes(hello.socketType))
    headers.set(KEY.groupSecret, secret)
  }
  return { contentType: CHANNEL_TYPE.result, sequence: HELLO_SEQUENCE, headers, body: [] }
}

/** The answer that turns a socket away. */
export function linkRejection(reason: string): Frame {
  const headers = new Map([
    [KEY.replyFor, uint32Header(HELLO_SEQUENCE >>> 0)],
    [KEY.success, boolHeader(false)],
  ])
  return { contentType: CHANNEL_TYPE.result, sequence: HELLO_SEQUENCE, headers, body: [textBytes(reason)] }
}

/** The answer of a peer to a hello: the secret of its group, if it grants one. Throws for a refusal, with its words. */
export function readLinkAnswer({ contentType, headers, body }: Frame): {
  readonly routerId: string
  readonly secret: Uint8Array | undefined
} {
  if (contentType !== CHANNEL_TYPE.result || readBool(headers, KEY.success) !== true) {
    throw new Error(`the link was refused: ${textIn({ body }).slice(0, LONGEST_TEXT)}`)
  }
  const secret = readBool(headers, KEY.isGrouped) === true ? headers.get(KEY.groupSecret) : undefined
  return { routerId: readText(headers, KEY.id) ?? '', secret }
}

/** Compares secrets in a time that tells nothing of them. */
export function isSecretOf(left: Uint8Array, right: Uint8Array | undefined): boolean {
  return right !== undefined && left.length === right.length && timingSafeEqual(left, right)
}
