import { timingSafeEqual } from 'node:crypto'
import { runtime } from '../../../src/concurrency/process-runtime.ts'
import {
  CONTROLLER_CAPABILITY,
  CONTROLLER_VERSION,
  ROUTER_CAPABILITY,
  type RouterGreeting,
  softwareOf,
  softwareText,
} from '../../../src/control-channel.ts'
import { decodeMask, encodeMask } from '../channel/capability-mask.ts'
import { HELLO_SEQUENCE } from '../channel/channel-numbers.ts'
import { textIn } from '../channel/edge-messages.ts'
import { type Frame, FrameError, type FrameLimits } from '../channel/frame.ts'
import { boolHeader, readBool, readText, textBytes, uint32Header } from '../channel/header-values.ts'
import { CONTENT_TYPE, HEADER } from './messages/content-types.ts'
import { Listeners } from './messages/fabric-definitions.ts'

/** Bytes that a peer may send before it is identified; a longer hello is refused. */
export const HELLO_LIMITS: FrameLimits = { headers: 16_384, body: 4192 }
/** This controller has all of them. */
const CAPABILITIES = encodeMask(Object.values(CONTROLLER_CAPABILITY))
const VERSION = softwareText(CONTROLLER_VERSION)
const SECRET_BYTES = 16
const LONGEST_ID = 128

/** How a router opens a socket. */
export interface Hello {
  readonly greeting: RouterGreeting
  /** Which of the router's sockets it is, for example `ctrl.default`. */
  readonly socketType: string
  readonly isGrouped: boolean
  readonly isFirst: boolean
  /** The group that it belongs to or wants to found; empty without a group. */
  readonly connectionId: string
  readonly secret: Uint8Array | undefined
}

/** Reads the first frame of a socket; a text is the reason for a refusal. Throws {@link FrameError} for an invalid hello. */
export function readHello({ contentType, headers, body }: Frame): Hello | string {
  if (contentType !== CONTENT_TYPE.hello) throw new FrameError('the first frame is no hello')
  const routerId = textIn({ body })
  const version = readText(headers, HEADER.version)
  if (version === undefined) return 'no version header provided'
  if (routerId === '' || routerId.length > LONGEST_ID) return 'a hello without id'
  const capabilities = decodeMask(headers.get(HEADER.helloCapabilities) ?? new Uint8Array(0))
  // It uses the newer header keys as well.
  const isNew = capabilities.includes(ROUTER_CAPABILITY.multiChannel)
  const connectionId = readText(headers, HEADER.connectionId) ?? ''
  const isGrouped = readBool(headers, HEADER.isGrouped) ?? false
  // The older key of the listeners means the secret of a group in a grouped hello.
  const listenersKey = isNew || isGrouped ? HEADER.helloListeners : HEADER.legacyHelloListeners
  return {
    greeting: {
      routerId,
      software: softwareOf(version.slice(0, LONGEST_VERSION)),
      capabilities,
      linkListeners: Listeners.decode(headers.get(listenersKey) ?? new Uint8Array(0)).listeners,
      isResumed: connectionId !== '',
    },
    socketType: readText(headers, HEADER.underlayType) ?? '',
    isGrouped,
    isFirst: readBool(headers, HEADER.isFirstOfGroup) ?? false,
    connectionId,
    secret: isGrouped ? headers.get(HEADER.groupSecret) : undefined,
  }
}

/** A fresh secret for a group whose router sends no secret. */
export function newGroupSecret(): Uint8Array {
  return runtime.bytes(SECRET_BYTES)
}

/** Compares secrets in a time that tells nothing of them. */
export function isSameSecret(left: Uint8Array, right: Uint8Array | undefined): boolean {
  return right !== undefined && left.length === right.length && timingSafeEqual(left, right)
}

/** The answer that lets a router in. */
export function acceptance(
  { isGrouped, socketType }: Hello,
  group: { readonly id: string; readonly secret: Uint8Array; readonly controllerId: string },
): Frame {
  const headers = new Map([
    [HEADER.replyFor, int32(HELLO_SEQUENCE)],
    [HEADER.success, boolHeader(true)],
    [HEADER.connectionId, textBytes(group.id)],
    [HEADER.id, textBytes(group.controllerId)],
    [HEADER.version, textBytes(VERSION)],
    [HEADER.helloCapabilities, CAPABILITIES],
    [HEADER.legacyCapabilities, CAPABILITIES],
    ...(isGrouped
      ? ([
          [HEADER.isGrouped, boolHeader(true)],
          [HEADER.groupSecret, group.secret],
        ] as const)
      : []),
    ...(socketType === '' ? [] : [[HEADER.underlayType, textBytes(socketType)] as const]),
  ])
  return { contentType: CONTENT_TYPE.result, sequence: HELLO_SEQUENCE, headers, body: [] }
}

/** The answer that turns a router away; routers log the reason. */
export function rejection(reason: string): Frame {
  const headers = new Map([
    [HEADER.replyFor, int32(HELLO_SEQUENCE)],
    [HEADER.success, boolHeader(false)],
  ])
  return { contentType: CONTENT_TYPE.result, sequence: HELLO_SEQUENCE, headers, body: [textBytes(reason)] }
}

function int32(value: number): Uint8Array {
  return uint32Header(value >>> 0)
}

const LONGEST_VERSION = 512
