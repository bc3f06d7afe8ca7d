import { bodyOf } from '../../channel/edge-messages.ts'
import type { Frame } from '../../channel/frame.ts'
import { boolHeader, bytesMapHeader, readBool, readBytesMap, readText, textBytes } from '../../channel/header-values.ts'

/** A message in the form of the wire, without the number that its channel gives it. */
export interface WireMessage {
  readonly contentType: number
  readonly headers: ReadonlyMap<number, Uint8Array>
  readonly body: readonly Uint8Array[]
}

/** The circumstances on which the form of some messages depends. */
export interface Exchange {
  /** The content type of the request that the message answers. */
  readonly answered?: number | undefined
  /** The router that sends the message. */
  readonly routerId?: string | undefined
}

/** One message of the control channel: how it is written, and how each content type is read that stands for it. */
export interface MessageRow<M> {
  readonly write: (message: M, exchange: Exchange) => WireMessage
  /** Undefined where the frame is another message of the same content type. Throws for a malformed frame. */
  readonly read: Readonly<Record<number, (frame: Frame, exchange: Exchange) => M | undefined>>
}

/** The members of a message beside its type, by which its row is named. */
export type MembersOf<All, Type> = Omit<Extract<All, { readonly type: Type }>, 'type'>

/** The body of a message. */
export interface Body<T> {
  /** In pieces where a large part goes to many routers. */
  encode(value: NoInfer<T>): Uint8Array | readonly Uint8Array[]
  /** The whole body: its bytes arrive in other pieces than they were sent. */
  decode(bytes: Uint8Array): T
}

/** A member that stands in a header value. It is left out where it is written as undefined. */
interface HeaderValue<T> {
  readonly key: number
  write(value: T): Uint8Array | undefined
  read(headers: Frame['headers']): T
}

type HeaderValues = Readonly<Record<string, HeaderValue<unknown>>>
type ValuesOf<H> = { readonly [Name in keyof H]: H[Name] extends HeaderValue<infer T> ? T : never }

/** A message whose members are the fields of its body, and the values of its headers. */
export function row<T extends object, const H extends HeaderValues = Readonly<Record<never, never>>>(
  contentType: number,
  body: Body<T>,
  headers?: H,
): MessageRow<T & ValuesOf<H>> {
  const values = Object.entries<HeaderValue<unknown>>(headers ?? {})
  return {
    write(message) {
      const members: Readonly<Record<string, unknown>> = { ...message }
      const written = values.map(([name, value]) => [value.key, value.write(members[name])] as const)
      return wire(contentType, body.encode(message), written)
    },
    read: {
      [contentType](frame) {
        const read: Record<string, unknown> = {}
        for (const [name, value] of values) read[name] = value.read(frame.headers)
        // Each header was read by the value that its type comes from.
        return Object.assign(body.decode(bodyOf(frame)), read as ValuesOf<H>)
      },
    },
  }
}

/** A message whose members stand in another form on the wire. */
export function mapped<M, T>(
  form: MessageRow<T>,
  write: (message: M, exchange: Exchange) => NoInfer<T>,
  read: (members: T, exchange: Exchange) => M | undefined,
): MessageRow<M> {
  const readers = Object.entries(form.read).map(([contentType, readMembers]) => {
    const reader = (frame: Frame, exchange: Exchange) => {
      const members = readMembers(frame, exchange)
      return members && read(members, exchange)
    }
    return [contentType, reader] as const
  })
  return {
    write: (message, exchange) => form.write(write(message, exchange), exchange),
    read: Object.fromEntries(readers),
  }
}

/** A message of several forms: `choose` names the form to write, and all forms are read. */
export function oneOf<M>(
  forms: readonly MessageRow<M>[],
  choose: (message: M, exchange: Exchange) => MessageRow<M>,
): MessageRow<M> {
  return {
    write: (message, exchange) => choose(message, exchange).write(message, exchange),
    read: Object.assign({}, ...forms.map(({ read }) => read)),
  }
}

/** A message without members. */
export function bare(contentType: number): MessageRow<object> {
  return row(contentType, NO_BODY)
}

export const NO_BODY: Body<object> = { encode: () => new Uint8Array(0), decode: () => ({}) }

/** A body that is the text of one member. */
export function textBody<const Name extends string>(name: Name): Body<Readonly<Record<Name, string>>> {
  return {
    encode: ({ [name]: text }) => textBytes(text),
    decode: (bytes) => ({ [name]: new TextDecoder().decode(bytes) }) as Readonly<Record<Name, string>>,
  }
}

/** A text that reads as empty where it is absent. */
export function text(key: number): HeaderValue<string> {
  return { key, write: textBytes, read: (headers) => readText(headers, key) ?? '' }
}

/** A text that is absent where it is empty. */
export function textIfAny(key: number): HeaderValue<string> {
  return { ...text(key), write: (value) => (value === '' ? undefined : textBytes(value)) }
}

export function optionalText(key: number): HeaderValue<string | undefined> {
  return {
    key,
    write: (value) => (value === undefined ? undefined : textBytes(value)),
    read: (headers) => readText(headers, key),
  }
}

export function bool(key: number): HeaderValue<boolean> {
  return { key, write: boolHeader, read: (headers) => readBool(headers, key) ?? false }
}

export function bytesMap(key: number): HeaderValue<ReadonlyMap<number, Uint8Array>> {
  return { key, write: bytesMapHeader, read: (headers) => readBytesMap(headers, key) }
}

/** A message of a content type, with headers and the bytes of its body. */
export function wire(
  contentType: number,
  body: Uint8Array | readonly Uint8Array[],
  headers: Iterable<readonly [number, Uint8Array | undefined]>,
): WireMessage {
  const given = new Map<number, Uint8Array>()
  for (const [key, value] of headers) if (value !== undefined) given.set(key, value)
  const pieces = body instanceof Uint8Array ? [body] : body
  return { contentType, headers: given, body: pieces.filter(({ length }) => length > 0) }
}

/** Both directions of the codec of some messages, which follow from one row for each. */
export class MessageCodec<All extends { readonly type: string }> {
  readonly #rows: ReadonlyMap<string, MessageRow<object>>
  readonly #types = new Map<number, [type: string, read: MessageRow<object>['read'][number]][]>()

  constructor(rows: { readonly [Type in All['type']]: MessageRow<MembersOf<All, Type>> }) {
    this.#rows = new Map(Object.entries(rows))
    for (const [type, { read }] of this.#rows) {
      for (const [contentType, readMembers] of Object.entries(read)) {
        const known = this.#types.get(Number(contentType)) ?? []
        this.#types.set(Number(contentType), [...known, [type, readMembers]])
      }
    }
  }

  write(message: All, exchange: Exchange): WireMessage {
    const written = this.#rows.get(message.type)
    if (written === undefined) throw new Error(`no row for messages of the type ${message.type}`)
    return written.write(message, exchange)
  }

  /** Undefined for a content type that no row reads. Throws for a malformed frame. */
  read(frame: Frame, exchange: Exchange = {}): All | undefined {
    for (const [type, read] of this.#types.get(frame.contentType) ?? []) {
      const members = read(frame, exchange)
      // The rows are typed so that these are the members of the message of this type.
      if (members !== undefined) return { ...members, type } as unknown as All
    }
    return undefined
  }
}
