/** The listeners and streams of this folder that a server binds. Rooms of the network take its files by themselves. */

export type { Channel, ChannelListener, Lane } from './channel.ts'
export { channelPair } from './channel-pair.ts'
export type { Frame } from './frame.ts'
export { type Address, formatAddress, isWildcardHost, listen, parseAddress, urlOf } from './listen.ts'
export { WebSocketStream } from './websocket-stream.ts'
